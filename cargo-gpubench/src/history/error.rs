//! Errors of `cargo gpubench history`.

use camino::Utf8PathBuf;
use thiserror::Error;

use gpubench_diagnostic::{ExitCode, Expected};

/// An error of `cargo gpubench history`.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum HistoryError {
    /// The history has no run.
    #[error("no history in `{folder}`")]
    Absent {
        /// The folder of the history.
        folder: Utf8PathBuf,
    },
    /// No case matches the filters.
    #[error("none of the {of} benchmarks in the history matches the filters")]
    NothingFits {
        /// Number of cases.
        of: usize,
        /// The name that the user probably meant.
        closest: Option<String>,
    },
}

impl Expected for HistoryError {
    fn exit_code(&self) -> ExitCode {
        ExitCode::NothingSelected
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Absent { .. } => Some("run `cargo gpubench --history` to start one".to_owned()),
            Self::NothingFits { closest, .. } => Some(match closest {
                Some(closest) => format!("did you mean `{closest}`?"),
                None => "leave out the filters to show all".to_owned(),
            }),
        }
    }
}
