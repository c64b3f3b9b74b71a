//! What can be wrong with a configuration.

use std::io;

use camino::Utf8PathBuf;
use thiserror::Error;

use super::{ConfigLine, InvalidSetting, SamplesCross};
use gpubench_diagnostic::{ExitCode, Expected, in_backticks, suggestion};

/// A configuration that cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("could not read the configuration `{file}`")]
    Unreadable {
        /// The file.
        file: Utf8PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// The file is no TOML.
    #[error("{place}: not TOML: {message}")]
    Syntax {
        /// Where it goes wrong.
        place: ConfigLine,
        /// How.
        message: String,
    },
    /// A value is of another kind than its key wants.
    #[error("{place}: `{key}` is {wanted}, not {got}")]
    Kind {
        /// Where.
        place: ConfigLine,
        /// The key.
        key: String,
        /// What it wants.
        wanted: &'static str,
        /// What stands there.
        got: &'static str,
    },
    /// A value cannot be read.
    #[error("{place}: the value of `{key}` makes no sense")]
    Value {
        /// Where.
        place: ConfigLine,
        /// The key.
        key: String,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The bounds on samples cross.
    #[error("{place}: the bounds on samples cross")]
    Samples {
        /// Where the table is.
        place: ConfigLine,
        /// How.
        #[source]
        source: SamplesCross,
    },
    /// An override says for no cases.
    #[error("{place}: an override needs `filter`, a regular expression for the names of its cases")]
    FilterMissing {
        /// Where.
        place: ConfigLine,
        /// A key of it that `filter` may have been misspelt as.
        similar: Option<String>,
    },
    /// No profile has the name.
    #[error("there is no profile `{name}` in {}", file_or_none(.file))]
    UnknownProfile {
        /// The name.
        name: String,
        /// The file, where there is one.
        file: Option<Utf8PathBuf>,
        /// The profiles there are.
        known: Vec<String>,
        /// The one that was probably meant.
        closest: Option<String>,
    },
    /// A profile inherits from one that is not there.
    #[error("{place}: the profile `{profile}` inherits from `{parent}`, which is not there")]
    UnknownParent {
        /// Where.
        place: ConfigLine,
        /// The profile.
        profile: String,
        /// What it inherits from.
        parent: String,
    },
    /// Profiles inherit from each other in a circle.
    #[error("{place}: the profile `{profile}` inherits from itself{}", by_way(.by_way_of))]
    Circle {
        /// Where.
        place: ConfigLine,
        /// The profile.
        profile: String,
        /// The others of the circle.
        by_way_of: Vec<String>,
    },
    /// The file wants a newer tool.
    #[error("{place}: the configuration needs `cargo gpubench` {wanted} or later, this is {ours}")]
    OlderTool {
        /// Where.
        place: ConfigLine,
        /// What it wants.
        wanted: String,
        /// What there is.
        ours: &'static str,
    },
}

fn file_or_none(file: &Option<Utf8PathBuf>) -> String {
    file.as_ref()
        .map_or("the configuration: no file was found".to_owned(), |file| {
            format!("`{file}`")
        })
}

fn by_way(others: &[String]) -> String {
    match others {
        [] => String::new(),
        others => format!(", by way of {}", in_backticks(others)),
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
                    format!("cargo's own profile is given by `--cargo-profile {name}`")
                }
                Some(closest) => format!("did you mean `{closest}`?"),
                None => format!("there is {}", in_backticks(known)),
            }),
            Self::Value { source, .. } => match source.downcast_ref::<InvalidSetting>() {
                Some(InvalidSetting::Unknown { closest: Some(closest) }) => Some(format!("did you mean `{closest}`?")),
                _ => None,
            },
            Self::FilterMissing {
                similar: Some(similar), ..
            } => Some(format!("is `{similar}` meant to be `filter`?")),
            Self::Unreadable { .. } => Some("`--config-file` names another file".to_owned()),
            Self::OlderTool { .. } => Some("install a newer `cargo-gpubench`, or lower `gpubench-version`".to_owned()),
            _ => None,
        }
    }
}

/// Something in a configuration that has no effect.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{place}: the key `{key}` {ineffective}")]
pub struct ConfigWarning {
    /// Where.
    pub place: ConfigLine,
    /// The key.
    pub key: String,
    /// Why.
    pub ineffective: Ineffective,
}

/// Why a key has no effect.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Ineffective {
    /// It is not known.
    #[error("is not known and has no effect{}", suggestion(.closest.as_ref()))]
    Unknown {
        /// The known one that was probably meant.
        closest: Option<String>,
    },
    /// It is an option that only a command line can give.
    #[error("has no effect here: it is for the command line only")]
    CommandLineOnly,
    /// It is a setting of a profile, and stands in none.
    #[error("has no effect here (hint: it belongs below `[profile.default]`, or another profile)")]
    OutsideOfProfiles,
    /// It is a setting of the whole run, and stands in an override.
    #[error("has no effect here (hint: it counts for whole runs, not for cases; it belongs in the profile)")]
    InOverride,
}
