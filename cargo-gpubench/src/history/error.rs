//! Errors of `cargo gpubench history`.

use std::path::PathBuf;

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
    #[error("none of the {of} cases in the history matches the filters")]
    NothingFits {
        /// Number of cases.
        of: usize,
        /// The name that the user probably meant.
        closest: Option<String>,
    },
    /// `--confirm` has no two commits to measure.
    #[error("the selected cases have no change of level between two commits")]
    NothingToConfirm,
    /// A commit of the history is no hash, which git could take for anything.
    #[error("the history names the commit `{}`, which is no full hash", gpubench_diagnostic::printable_line(.commit))]
    NoHash {
        /// What the history has.
        commit: String,
    },
    /// `--confirm` has no sources to build.
    #[error("`--confirm` builds two commits, but the settings name an archive")]
    NoSources,
    /// The temporary folder's name is not UTF-8.
    #[error("the name of the temporary folder `{}` is not UTF-8", path.display())]
    FolderName {
        /// The folder.
        path: PathBuf,
    },
}

impl Expected for HistoryError {
    fn exit_code(&self) -> ExitCode {
        match self {
            Self::Absent { .. } | Self::NothingFits { .. } | Self::NothingToConfirm => ExitCode::NothingSelected,
            Self::NoSources | Self::NoHash { .. } | Self::FolderName { .. } => ExitCode::Usage,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Absent { .. } => Some("run `cargo gpubench --history` to start one".to_owned()),
            Self::NothingFits { closest, .. } => Some(match closest {
                Some(closest) => format!("did you mean `{closest}`?"),
                None => "leave out the filters to show all".to_owned(),
            }),
            Self::NothingToConfirm => Some(
                "a change needs ten runs, three of them after it, and commits without local changes on both sides; \
                 a change of the machine is none"
                    .to_owned(),
            ),
            Self::NoHash { .. } => {
                Some("somebody has changed the history; measure both commits with `--against`".to_owned())
            }
            Self::NoSources => Some("run it in the workspace, without an archive in the profile".to_owned()),
            Self::FolderName { .. } => Some("name another one in `TMPDIR`".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_confirmed_says_why() {
        let hint = HistoryError::NothingToConfirm.hint().expect("a hint");
        assert!(
            hint.contains("ten runs") && hint.contains("without local changes"),
            "{hint}"
        );
        assert_eq!(HistoryError::NothingToConfirm.exit_code(), ExitCode::NothingSelected);
        assert_eq!(HistoryError::NoSources.exit_code(), ExitCode::Usage);
    }
}
