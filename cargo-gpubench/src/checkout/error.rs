//! Why a revision cannot be checked out.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use thiserror::Error;

use crate::git::GitNotStarted;
use gpubench_diagnostic::{ExitCode, Expected};
use gpubench_store::LockError;

/// Why a revision cannot be checked out.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CheckoutError {
    /// Git cannot be started.
    #[error("`--against` needs git, which cannot be started")]
    GitMissing {
        /// What the system says.
        #[from]
        source: GitNotStarted,
    },
    /// What was asked for is not there, or cannot be compared with.
    #[error("{what}")]
    Refused {
        /// What is wrong with it.
        what: String,
        /// What can be asked for instead.
        hint: &'static str,
    },
    /// Git could not do what it should.
    #[error("git could not {what}: {why}")]
    Git {
        /// What it was asked to do.
        what: &'static str,
        /// In its words.
        why: String,
    },
    /// A folder or file of the checkout cannot be made.
    #[error("cannot use `{path}`")]
    Folder {
        /// Which.
        path: Utf8PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// Another run keeps the checkout.
    #[error("the checkout is in use")]
    Locked {
        /// By whom.
        #[source]
        source: LockError,
    },
    /// Ctrl-C.
    #[error("interrupted")]
    Interrupted,
}

impl CheckoutError {
    /// A [`CheckoutError::Refused`].
    pub(super) fn refused(what: String, hint: &'static str) -> CheckoutError {
        CheckoutError::Refused { what, hint }
    }

    /// A [`CheckoutError::Folder`] for `map_err`.
    pub(super) fn folder(path: &Utf8Path) -> impl FnOnce(io::Error) -> CheckoutError {
        let path = path.to_owned();
        move |source| CheckoutError::Folder { path, source }
    }

    /// What becomes of a lock in a folder that is not ours, for `map_err`.
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
            Self::Refused { .. } => ExitCode::Usage,
            Self::Git { .. } => ExitCode::BuildFailed,
            Self::Folder { .. } | Self::Locked { .. } => ExitCode::OutputFailed,
            Self::Interrupted => ExitCode::Interrupted,
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::GitMissing { .. } => "install git, or compare with a saved run: `--baseline NAME`",
            Self::Refused { hint, .. } => hint,
            Self::Folder { .. } => "`--target-dir` names a folder that can be written to",
            Self::Locked { .. } => "end that process if it is no run of yours, and run again",
            Self::Git { .. } | Self::Interrupted => return None,
        };
        Some(hint.to_owned())
    }
}
