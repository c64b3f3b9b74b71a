//! Errors in command lines that clap accepts.

use thiserror::Error;

use crate::config::SamplesCross;
use gpubench_diagnostic::{ExitCode, Expected};

/// An invalid option or combination of options.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum UsageError {
    /// A filter that is not a regular expression.
    #[error("the filter `{text}` is not a regular expression")]
    Filter {
        /// The filter.
        text: String,
        /// The error in the expression.
        #[source]
        source: Box<regex::Error>,
    },
    /// `--min-samples` above `--max-samples`.
    #[error(transparent)]
    Samples(#[from] SamplesCross),
    /// An option of another tool.
    #[error("`{option}` is an option of {tool}")]
    Foreign {
        /// The option.
        option: &'static str,
        /// The other tool.
        tool: &'static str,
        /// The equivalent here.
        instead: &'static str,
    },
    /// An option without its value, as another tool accepts it.
    #[error("`{option}` needs a value here; without one it is an option of {tool}")]
    ForeignFlag {
        /// The option.
        option: &'static str,
        /// The other tool.
        tool: &'static str,
        /// The equivalent here.
        instead: &'static str,
    },
    /// An option of a run before a subcommand.
    #[error("`--{option}` cannot come before `{subcommand}`")]
    InFrontOfSubcommand {
        /// The option's long name.
        option: String,
        /// The subcommand.
        subcommand: String,
        /// What to do instead.
        instead: String,
    },
    /// An option after `--`, which would be a filter.
    #[error("`{option}` stands behind `--`, where everything is a filter")]
    OptionBehindDashes {
        /// The option.
        option: String,
    },
    /// A comparison with only one run.
    #[error("`{name}` is to be compared, and with what is not said")]
    NothingToCompareWith {
        /// The run.
        name: String,
    },
    /// An output file that is also an input.
    #[error("`{file}` is read and cannot be written to")]
    OutputIsInput {
        /// The file.
        file: camino::Utf8PathBuf,
    },
    /// Two options that write to standard output.
    #[error("`{one}` and `{other}` both write to standard output")]
    StandardOutputTaken {
        /// The first option.
        one: &'static str,
        /// The second option.
        other: &'static str,
    },
    /// An environment variable with an invalid value.
    #[error("the value `{value}` of `{name}` makes no sense")]
    Variable {
        /// The variable.
        name: String,
        /// The value.
        value: String,
        /// The reason.
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
