//! Writing of stored runs.

use std::collections::HashSet;
use std::io;

use camino::{Utf8Path, Utf8PathBuf};

use super::icounts;
use super::kept::{Others, Saved, SetupMismatch, count_kept, merged};
use super::layout::text_of;
use super::read::{contents, read, read_unverified, recognize};
use super::{Home, RunName, StoreError, StoredRun};
use crate::Replacement;
use gpubench_contract::{BenchmarkComplete, DeviceIdentity, ResultKey};

/// A path for a stored run: free, or occupied by a stored run that may be replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    path: Utf8PathBuf,
}

impl Destination {
    /// Checks that a run can be saved, before anything is measured.
    ///
    /// # Errors
    /// There is no folder for it, the folder cannot be created or written to, or the existing file
    /// is not a stored run in a known format version, or the file for its table of instructions is
    /// something else.
    pub fn of(name: &RunName, home: &Home) -> Result<Destination, StoreError> {
        let path = home.place(name)?;
        ensure_replaceable(&path)?;
        icounts::ensure_replaceable(&path)?;
        Replacement::of(&path)
            .and_then(Replacement::abandon)
            .map_err(StoreError::not_written(&path))?;
        Ok(Destination { path })
    }

    /// Returns the path.
    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// Checks that the results that stay can share a file with a run with this device identity and
    /// these results.
    ///
    /// # Errors
    /// They have another device or setup, or the file was edited.
    pub fn ensure_keepable(
        &self,
        identity: &DeviceIdentity,
        results: &HashSet<ResultKey>,
        others: &Others,
    ) -> Result<(), StoreError> {
        match self.previous(results, others)? {
            None => Ok(()),
            Some(previous) => count_kept(&previous, identity, results, others)
                .map(|_| ())
                .map_err(|setup_mismatch| self.setup_mismatch(setup_mismatch)),
        }
    }

    /// Saves a run like [`save`], merged with the results that stay, and the table of its
    /// instructions. It reads the existing file
    /// again, because another process may have written it meanwhile.
    ///
    /// # Errors
    /// The same as for [`save`] and [`ensure_keepable`](Self::ensure_keepable).
    pub fn save(&self, stored: StoredRun, others: &Others) -> Result<Saved, StoreError> {
        let measured = stored.results.iter().map(BenchmarkComplete::key).collect();
        replace(&self.path, || {
            let (run, mut saved) = match self.previous(&measured, others)? {
                None => (stored, Saved::default()),
                Some(previous) => {
                    merged(stored, previous, others).map_err(|setup_mismatch| self.setup_mismatch(setup_mismatch))?
                }
            };
            let text = written(&self.path, &run)?;
            saved.icounts = icounts::write(&self.path, &run)?;
            Ok((text, saved))
        })
    }

    /// Reads the existing run, from which results may stay. Edited results cannot be trusted: an
    /// edited file is replaced if no result would stay, and is an error otherwise.
    fn previous(&self, measured: &HashSet<ResultKey>, others: &Others) -> Result<Option<StoredRun>, StoreError> {
        match read(&self.path) {
            Ok(previous) => Ok(Some(previous)),
            Err(StoreError::Unreadable { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(None),
            // Nothing can be kept from an older format.
            Err(StoreError::Older { .. }) => Ok(None),
            Err(refusal @ (StoreError::Altered { .. } | StoreError::Contradictory { .. })) => {
                let edited = read_unverified(&self.path)?;
                match others.is_replaced(&edited, measured) {
                    true => Ok(None),
                    false => Err(refusal),
                }
            }
            Err(refusal) => Err(refusal),
        }
    }

    fn setup_mismatch(&self, source: SetupMismatch) -> StoreError {
        StoreError::SetupMismatch {
            path: self.path.clone(),
            source,
        }
    }
}

/// Writes a whole run atomically: the file has either the old contents or the complete run.
///
/// # Errors
/// The run cannot be written, or the existing file is not a stored run in a known format version.
pub fn save(path: &Utf8Path, stored: &StoredRun) -> Result<(), StoreError> {
    replace(path, || Ok((written(path, stored)?, ())))
}

/// Replaces a file by a text that is created under its lock. A file that is not a stored run is
/// left unchanged.
fn replace<T>(path: &Utf8Path, make: impl FnOnce() -> Result<(Vec<u8>, T), StoreError>) -> Result<T, StoreError> {
    let not_written = StoreError::not_written(path);
    let replacement = Replacement::of(path).map_err(&not_written)?;
    match ensure_replaceable(path).and_then(|()| make()) {
        Ok((text, made)) => {
            replacement.commit(&text).map_err(not_written)?;
            Ok(made)
        }
        Err(refusal) => {
            replacement.abandon().map_err(not_written)?;
            Err(refusal)
        }
    }
}

fn written(path: &Utf8Path, run: &StoredRun) -> Result<Vec<u8>, StoreError> {
    text_of(run).map_err(|error| StoreError::not_written(path)(io::Error::other(error)))
}

/// Fails if the file exists and is not a stored run.
fn ensure_replaceable(path: &Utf8Path) -> Result<(), StoreError> {
    contents(path)?.map_or(Ok(()), |text| recognize(path, &text))
}
