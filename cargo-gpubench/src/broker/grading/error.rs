//! Why nothing can be graded.

use gpubench_diagnostic::{ExitCode, Expected};

/// The submissions cannot be graded.
#[derive(Debug, thiserror::Error)]
pub(in crate::broker) enum GradingError {
    #[error("there is no problem `{name}`")]
    UnknownProblem {
        name: String,
        /// The problem that the user probably meant.
        closest: Option<String>,
        /// All problems.
        known: Vec<String>,
    },
    #[error("several problems are called `{name}`")]
    AmbiguousProblem {
        name: String,
        /// Their full names.
        meant: Vec<String>,
    },
}

impl Expected for GradingError {
    fn exit_code(&self) -> ExitCode {
        match self {
            Self::UnknownProblem { .. } => ExitCode::NothingSelected,
            Self::AmbiguousProblem { .. } => ExitCode::Usage,
        }
    }

    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::UnknownProblem {
                closest: Some(closest), ..
            } => format!("did you mean `{closest}`?"),
            Self::UnknownProblem { known, .. } if known.is_empty() => {
                "the selected packages have no `#[problem]`".to_owned()
            }
            Self::UnknownProblem { known, .. } => format!("the problems are `{}`", known.join("`, `")),
            Self::AmbiguousProblem { meant, .. } => format!("write one of `{}`", meant.join("`, `")),
        })
    }
}
