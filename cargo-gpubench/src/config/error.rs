//! Errors and warnings about a configuration.

use std::io;

use camino::Utf8PathBuf;
use thiserror::Error;

use super::{ConfigLine, InvalidSetting, SamplesCross};
use gpubench_diagnostic::{ExitCode, Expected, in_backticks, suggestion};

/// An invalid configuration.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("could not read the configuration `{file}`")]
    Unreadable {
        /// The file.
        file: Utf8PathBuf,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },
    /// The file is not TOML.
    #[error("{place}: not TOML: {message}")]
    Syntax {
        /// The position.
        place: ConfigLine,
        /// The reason.
        message: String,
    },
    /// A value has the wrong type.
    #[error("{place}: `{key}` must be {wanted}, not {got}")]
    Kind {
        /// The position.
        place: ConfigLine,
        /// The key.
        key: String,
        /// The expected type.
        wanted: &'static str,
        /// The type of the value.
        got: &'static str,
    },
    /// A key that has another name now.
    #[error("{place}: `{key}` is called `{new}` now")]
    Renamed {
        /// The position.
        place: ConfigLine,
        /// The key.
        key: String,
        /// The key of today, or the line with it.
        new: String,
    },
    /// A value is invalid.
    #[error("{place}: `{key}` has an invalid value")]
    Value {
        /// The position.
        place: ConfigLine,
        /// The key.
        key: String,
        /// The reason.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// `min-samples` is more than `max-samples`.
    #[error("{place}: the limits on samples contradict each other")]
    Samples {
        /// The position of the table.
        place: ConfigLine,
        /// The two limits.
        #[source]
        source: SamplesCross,
    },
    /// An override has no filter.
    #[error("{place}: an override needs `filter`, a regular expression for case names")]
    FilterMissing {
        /// The position.
        place: ConfigLine,
        /// A key that may be a misspelt `filter`.
        similar: Option<String>,
    },
    /// There is no profile of this name.
    #[error("there is no profile `{name}`{}", file_or_none(.file))]
    UnknownProfile {
        /// The name.
        name: String,
        /// The file, if there is one.
        file: Option<Utf8PathBuf>,
        /// The existing profiles.
        known: Vec<String>,
        /// The most similar name.
        closest: Option<String>,
    },
    /// A profile inherits from an unknown profile.
    #[error("{place}: the profile `{profile}` inherits from `{parent}`, which does not exist")]
    UnknownParent {
        /// The position.
        place: ConfigLine,
        /// The profile.
        profile: String,
        /// The unknown profile.
        parent: String,
    },
    /// Profiles inherit from each other in a circle.
    #[error("{place}: the profile `{profile}` inherits from itself{}", by_way(.by_way_of))]
    Circle {
        /// The position.
        place: ConfigLine,
        /// The profile.
        profile: String,
        /// The other profiles of the circle.
        by_way_of: Vec<String>,
    },
    /// A setting names a file that is not in the folder of the configuration.
    #[error("{place}: `{key}` names `{file}`, which is outside of `{folder}`")]
    Outside {
        /// The position.
        place: ConfigLine,
        /// The key.
        key: String,
        /// The file, with its links and parents as written.
        file: Utf8PathBuf,
        /// The folder.
        folder: Utf8PathBuf,
    },
    /// The file requires a newer version.
    #[error("{place}: the configuration needs `cargo gpubench` {wanted} or later; this is {ours}")]
    OlderTool {
        /// The position.
        place: ConfigLine,
        /// The required version.
        wanted: String,
        /// This version.
        ours: &'static str,
    },
}

fn file_or_none(file: &Option<Utf8PathBuf>) -> String {
    file.as_ref()
        .map_or(": no configuration file was found".to_owned(), |file| {
            format!(" in `{file}`")
        })
}

fn by_way(others: &[String]) -> String {
    match others {
        [] => String::new(),
        others => format!(" through {}", in_backticks(others)),
    }
}

impl Expected for ConfigError {
    fn exit_code(&self) -> ExitCode {
        match self {
            Self::OlderTool { .. } => ExitCode::RequiredVersion,
            _ => ExitCode::Usage,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownProfile {
                name, known, closest, ..
            } => Some(match closest {
                _ if ["release", "dev", "bench", "gpubench"].contains(&&**name) => {
                    format!("`--cargo-profile {name}` sets cargo's profile")
                }
                Some(closest) => format!("did you mean `{closest}`?"),
                None => format!("existing profiles: {}", in_backticks(known)),
            }),
            Self::Value { source, .. } => match source.downcast_ref::<InvalidSetting>() {
                Some(InvalidSetting::Unknown { closest: Some(closest) }) => Some(format!("did you mean `{closest}`?")),
                _ => None,
            },
            Self::FilterMissing {
                similar: Some(similar), ..
            } => Some(format!("did you mean `filter` instead of `{similar}`?")),
            Self::Outside { key, .. } => Some(format!(
                "a configuration names files in its own folder; set `GPUBENCH_{}` or `--{key}` instead",
                key.to_uppercase().replace('-', "_")
            )),
            Self::Unreadable { .. } => Some("`--config-file` names another file".to_owned()),
            Self::OlderTool { .. } => Some("install a newer `cargo-gpubench`, or lower `gpubench-version`".to_owned()),
            _ => None,
        }
    }
}

/// A key without effect.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{place}: the key `{key}` {ineffective}")]
pub struct ConfigWarning {
    /// The position.
    pub place: ConfigLine,
    /// The key.
    pub key: String,
    /// The reason.
    pub ineffective: Ineffective,
}

/// The reason why a key has no effect.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Ineffective {
    /// The key is unknown.
    #[error("is unknown and has no effect{}", suggestion(.closest.as_ref()))]
    Unknown {
        /// The most similar key.
        closest: Option<String>,
    },
    /// The key is a table that is probably meant as a profile.
    #[error("is unknown and has no effect (hint: write `[profile.{0}]` for a profile)")]
    ProfileWithoutPrefix(String),
    /// The key is an option of the command line only.
    #[error("has no effect here: only the command line and the environment can set it")]
    CommandLineOnly,
    /// The key is a setting of a profile, but is outside of profiles.
    #[error("has no effect here (hint: move it to `[profile.default]` or another profile)")]
    OutsideOfProfiles,
    /// The key is a setting of the whole run, but is in an override.
    #[error("has no effect in an override, because it applies to the whole run (hint: move it to the profile)")]
    InOverride,
}
