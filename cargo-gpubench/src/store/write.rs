//! Writing stored runs.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};

use super::layout::text_of;
use super::read::recognize;
use super::{Home, RunName, StoreError, StoredRun};
use crate::replacement::Replacement;

/// A place for a stored run: nothing is there, or a stored run that may be replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    path: Utf8PathBuf,
}

impl Destination {
    /// Looks whether a run could be saved, before there is one to lose.
    ///
    /// # Errors
    /// There is nowhere to keep it, the folder cannot be made or written to, or the file that is there is no stored run of a version that
    /// this tool knows.
    pub fn of(name: &RunName, home: &Home) -> Result<Destination, StoreError> {
        let path = home.place(name)?;
        refuse_to_lose(&path)?;
        Replacement::of(&path)
            .and_then(Replacement::abandon)
            .map_err(not_written(&path))?;
        Ok(Destination { path })
    }

    /// The file.
    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// Saves a run there, as [`save`] does.
    ///
    /// # Errors
    /// As [`save`].
    pub fn save(&self, stored: &StoredRun) -> Result<(), StoreError> {
        save(&self.path, stored)
    }
}

/// Writes a run as a whole: whatever happens meanwhile, the file holds what was there before or all of the run.
///
/// # Errors
/// It cannot be written, or the file that is there is no stored run of a version that this tool knows.
pub fn save(path: &Utf8Path, stored: &StoredRun) -> Result<(), StoreError> {
    let text = text_of(stored).map_err(|error| not_written(path)(io::Error::other(error)))?;
    let replacement = Replacement::of(path).map_err(not_written(path))?;
    if let Err(refusal) = refuse_to_lose(path) {
        replacement.abandon().map_err(not_written(path))?;
        return Err(refusal);
    }
    replacement.commit(&text).map_err(not_written(path))
}

/// What is not ours to replace is left alone.
fn refuse_to_lose(path: &Utf8Path) -> Result<(), StoreError> {
    match fs_err::read(path) {
        Ok(text) => recognize(path, &text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(source) => Err(StoreError::Unreadable {
            path: path.to_owned(),
            source,
        }),
    }
}

fn not_written(path: &Utf8Path) -> impl Fn(io::Error) -> StoreError {
    move |source| StoreError::NotWritten {
        path: path.to_owned(),
        source,
    }
}
