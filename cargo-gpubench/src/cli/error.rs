//! Command lines that clap accepts and that make no sense all the same.
#![forbid(unsafe_code)]

use thiserror::Error;

use crate::{error::Expected, exit_code::ExitCode};

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
    #[error("`--min-samples {min}` is more than `--max-samples {max}`")]
    Samples {
        /// At least.
        min: u32,
        /// At most.
        max: u32,
    },
}

impl Expected for UsageError {
    fn exit_code(&self) -> ExitCode {
        ExitCode::Usage
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Filter { .. } => Some("`--exact` takes filters as whole names".to_owned()),
            Self::Samples { .. } => None,
        }
    }
}
