//! Why there is nothing to show.

use camino::Utf8PathBuf;
use thiserror::Error;

use gpubench_diagnostic::{ExitCode, Expected};

/// Why there is nothing to show.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum HistoryError {
    /// No run has been added yet.
    #[error("no history in `{folder}`")]
    Absent {
        /// Where it would be.
        folder: Utf8PathBuf,
    },
    /// No case has a name that was asked for.
    #[error("none of the {of} benchmarks in the history matches the filters")]
    NothingFits {
        /// How many there are.
        of: usize,
        /// One that was probably meant.
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
