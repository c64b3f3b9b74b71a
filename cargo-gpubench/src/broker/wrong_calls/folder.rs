//! The folder for tensors of wrong calls.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};

use gpubench_diagnostic::{ExitCode, Expected, Place};

/// Makes the folder, and checks before anything is measured that files can be made in it.
///
/// # Errors
/// They cannot.
pub(in crate::broker) fn ensure_calls_can_be_kept(folder: &Utf8Path) -> Result<(), FolderError> {
    let place = Place::of_entry(folder.join("any"));
    let tried = place.and_then(|place| tempfile::tempfile_in(place.folder()));
    tried.map(drop).map_err(|source| FolderError {
        folder: folder.to_owned(),
        source,
    })
}

/// Why no files can be made in the folder.
#[derive(Debug, thiserror::Error)]
#[error("cannot make files in the folder `{folder}`")]
pub(in crate::broker) struct FolderError {
    folder: Utf8PathBuf,
    source: io::Error,
}

impl Expected for FolderError {
    fn exit_code(&self) -> ExitCode {
        ExitCode::OutputFailed
    }

    fn hint(&self) -> Option<String> {
        Some("name another folder with `--keep-wrong-outputs`".to_owned())
    }
}
