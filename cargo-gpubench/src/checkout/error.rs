//! Errors of checking out a revision.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use thiserror::Error;

use crate::git::GitNotStarted;
use gpubench_diagnostic::{ExitCode, Expected};
use gpubench_store::LockError;

/// An error of checking out a revision.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CheckoutError {
    /// Git cannot be started.
    #[error("`--against` needs git, which could not be started")]
    GitMissing {
        /// The system's error.
        #[from]
        source: GitNotStarted,
    },
    /// The revision does not exist, or cannot be compared with.
    #[error("{what}")]
    Refused {
        /// The reason.
        what: String,
        /// What to do instead.
        hint: &'static str,
    },
    /// The revision lacks the candidate's manifest.
    #[error("`{revision}` has no `{manifest}`")]
    NoManifest {
        /// The revision.
        revision: String,
        /// The path in the repository.
        manifest: Utf8PathBuf,
    },
    /// A git command failed.
    #[error("git could not {what}: {why}")]
    Git {
        /// The action.
        what: &'static str,
        /// Git's message.
        why: String,
    },
    /// A folder or file of the checkout cannot be created.
    #[error("cannot use `{path}`")]
    Folder {
        /// The path.
        path: Utf8PathBuf,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// Another run uses the checkout.
    #[error("the checkout is in use")]
    Locked {
        /// The lock and its holder.
        #[source]
        source: LockError,
    },
    /// Ctrl-C.
    #[error("interrupted")]
    Interrupted,
}

impl CheckoutError {
    /// Returns a [`CheckoutError::Refused`].
    pub(super) fn refused(what: String, hint: &'static str) -> CheckoutError {
        CheckoutError::Refused { what, hint }
    }

    /// Returns a [`CheckoutError::Folder`] for `map_err`.
    pub(super) fn folder(path: &Utf8Path) -> impl FnOnce(io::Error) -> CheckoutError {
        let path = path.to_owned();
        move |source| CheckoutError::Folder { path, source }
    }

    /// Converts a lock error of a folder, for `map_err`.
    pub(super) fn of_lock(folder: &Utf8Path) -> impl FnOnce(LockError) -> CheckoutError {
        let folder = folder.to_owned();
        move |error| match error {
            LockError::Io(error) => CheckoutError::folder(&folder)(error),
            LockError::GivenUp { .. } => CheckoutError::Interrupted,
            source @ LockError::Held { .. } => CheckoutError::Locked { source },
        }
    }
}

impl Expected for CheckoutError {
    fn exit_code(&self) -> ExitCode {
        match self {
            Self::GitMissing { .. } => ExitCode::SetupMissing,
            Self::Refused { .. } | Self::NoManifest { .. } => ExitCode::Usage,
            Self::Git { .. } => ExitCode::BuildFailed,
            Self::Folder { .. } | Self::Locked { .. } => ExitCode::OutputFailed,
            Self::Interrupted => ExitCode::Interrupted,
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::GitMissing { .. } => "install git, or compare with a saved run: `--baseline NAME`",
            Self::Refused { hint, .. } => hint,
            Self::NoManifest { .. } => "the package must be in the same folder in both revisions",
            Self::Folder { .. } => "name a writable folder with `--target-dir`",
            Self::Locked { .. } => "wait for that process or end it, then run again",
            Self::Git { .. } | Self::Interrupted => return None,
        };
        Some(hint.to_owned())
    }
}
