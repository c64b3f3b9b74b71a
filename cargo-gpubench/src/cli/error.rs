//! Command lines that clap accepts and that make no sense all the same.

use thiserror::Error;

use crate::config::SamplesCross;
use gpubench_diagnostic::{ExitCode, Expected};

/// Options that make no sense, by themselves or together.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum UsageError {
    /// A filter that is not a regular expression.
    #[error("the filter `{text}` is not a regular expression")]
    Filter {
        /// The filter.
        text: String,
        /// Where it goes wrong.
        #[source]
        source: Box<regex::Error>,
    },
    /// More samples at least than at most.
    #[error(transparent)]
    Samples(#[from] SamplesCross),
    /// An option that only another tool has.
    #[error("`{option}` is an option of {tool}")]
    Foreign {
        /// The option.
        option: &'static str,
        /// Whose it is.
        tool: &'static str,
        /// What does the same here.
        instead: &'static str,
    },
    /// An option without its value, which is a flag of another tool.
    #[error("`{option}` needs a value here; without one it is an option of {tool}")]
    ForeignFlag {
        /// The option.
        option: &'static str,
        /// Whose flag it is.
        tool: &'static str,
        /// What does the same here.
        instead: &'static str,
    },
    /// An option of a run in front of a subcommand.
    #[error("`--{option}` cannot come before `{subcommand}`")]
    InFrontOfSubcommand {
        /// Its long name.
        option: String,
        /// The subcommand.
        subcommand: String,
        /// What to do instead.
        instead: String,
    },
    /// An option behind `--`, where it would be a filter.
    #[error("`{option}` stands behind `--`, where everything is a filter")]
    OptionBehindDashes {
        /// The option.
        option: String,
    },
    /// A comparison of one run.
    #[error("`{name}` is to be compared, and with what is not said")]
    NothingToCompareWith {
        /// The run.
        name: String,
    },
    /// A file that is to be written is one that is to be read.
    #[error("`{file}` is read and cannot be written to")]
    OutputIsInput {
        /// The file.
        file: camino::Utf8PathBuf,
    },
    /// Two options ask for standard output.
    #[error("`{one}` and `{other}` both write to standard output")]
    StandardOutputTaken {
        /// The one.
        one: &'static str,
        /// The other.
        other: &'static str,
    },
    /// A variable of the environment that makes no sense.
    #[error("the value `{value}` of `{name}` makes no sense")]
    Variable {
        /// The variable.
        name: String,
        /// Its value.
        value: String,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl Expected for UsageError {
    fn exit_code(&self) -> ExitCode {
        ExitCode::Usage
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Filter { .. } => Some("`--exact` takes filters as whole names".to_owned()),
            Self::Samples(_) | Self::OutputIsInput { .. } => None,
            Self::Foreign { instead, .. } | Self::ForeignFlag { instead, .. } => Some((*instead).to_owned()),
            Self::NothingToCompareWith { name } => Some(format!(
                "`cargo gpubench compare {name} CANDIDATE` compares a stored run with it, `cargo gpubench --baseline {name}` a new one; \
                 `compare --baselines` lists what is stored"
            )),
            Self::InFrontOfSubcommand {
                subcommand, instead, ..
            } => Some(format!(
                "{instead}; `-- {subcommand}` runs the cases with `{subcommand}` in their names"
            )),
            Self::OptionBehindDashes { .. } => {
                Some("leave out the `--`: `cargo gpubench` takes its options itself".to_owned())
            }
            Self::StandardOutputTaken { .. } => Some("name a file instead of `-` in one of them".to_owned()),
            Self::Variable { name, .. } => Some(format!("unset `{name}`, or give its option on the command line")),
        }
    }
}
