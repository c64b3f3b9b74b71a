//! Why a revision cannot be checked out.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use thiserror::Error;

use crate::git::GitNotStarted;
use gpubench_diagnostic::{ExitCode, Expected};

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
    /// There is no manifest to look for in the revision.
    #[error("`{folder}` and its parents have no `Cargo.toml`")]
    NoManifest {
        /// Where was looked.
        folder: Utf8PathBuf,
    },
    /// The sources are under no repository.
    #[error("`{folder}` is in no git repository that can be used: {why}")]
    NoRepository {
        /// Where was looked.
        folder: Utf8PathBuf,
        /// In git's words.
        why: String,
    },
    /// The revision is none.
    #[error("`{revision}` is no revision of the repository `{repository}`")]
    UnknownRevision {
        /// What was asked for.
        revision: String,
        /// Where.
        repository: Utf8PathBuf,
    },
    /// What was asked for names several revisions, a range, or all but one.
    #[error("`{revision}` is not one revision: {why}")]
    NotOneRevision {
        /// What was asked for.
        revision: String,
        /// What it is instead.
        why: &'static str,
    },
    /// What was asked for is there, and no state of the sources.
    #[error("`{revision}` is a {kind}, and no commit")]
    NoCommit {
        /// What was asked for.
        revision: String,
        /// In git's words: `blob`, `tree`.
        kind: String,
    },
    /// The revision has submodules.
    #[error("`{revision}` has submodules, which are not checked out")]
    Submodules {
        /// What was asked for.
        revision: String,
    },
    /// The revision has no manifest where the candidate has one.
    #[error("`{revision}` has no `{manifest}`")]
    ManifestAbsent {
        /// What was asked for.
        revision: String,
        /// The manifest, from the repository's root.
        manifest: Utf8PathBuf,
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
    /// Ctrl-C.
    #[error("interrupted")]
    Interrupted,
}

impl CheckoutError {
    /// A [`CheckoutError::Folder`] for `map_err`.
    pub(super) fn folder(path: &Utf8Path) -> impl FnOnce(io::Error) -> CheckoutError {
        let path = path.to_owned();
        move |source| CheckoutError::Folder { path, source }
    }
}

impl Expected for CheckoutError {
    fn exit_code(&self) -> ExitCode {
        match self {
            Self::GitMissing { .. } => ExitCode::SetupMissing,
            Self::NoManifest { .. }
            | Self::NoRepository { .. }
            | Self::UnknownRevision { .. }
            | Self::NotOneRevision { .. }
            | Self::NoCommit { .. }
            | Self::Submodules { .. }
            | Self::ManifestAbsent { .. } => ExitCode::Usage,
            Self::Git { .. } => ExitCode::BuildFailed,
            Self::Folder { .. } => ExitCode::OutputFailed,
            Self::Interrupted => ExitCode::Interrupted,
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::GitMissing { .. } => "install git, or compare with a saved run: `--baseline NAME`",
            Self::NoManifest { .. } => "`--manifest-path` names one",
            Self::NoRepository { .. } => {
                "`--against` compares with a revision of the sources; `--baseline NAME` with a saved run"
            }
            Self::UnknownRevision { .. } => {
                "a branch, a tag, a hash, or `HEAD~1`; `git fetch` first where it is on another machine only"
            }
            Self::NotOneRevision { .. } | Self::NoCommit { .. } => {
                "one revision is compared with the sources here: a branch, a tag, a hash, or `HEAD~1`"
            }
            Self::Submodules { .. } => {
                "save a baseline in a checkout of your own, `--save-baseline NAME`, and compare with `--baseline NAME`"
            }
            Self::ManifestAbsent { .. } => "the package must lie in the same folder in both revisions",
            Self::Folder { .. } => "`--target-dir` names a folder that can be written to",
            Self::Git { .. } | Self::Interrupted => return None,
        };
        Some(hint.to_owned())
    }
}
