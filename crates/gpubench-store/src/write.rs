//! Writing stored runs.

use std::collections::HashSet;
use std::io;

use camino::{Utf8Path, Utf8PathBuf};

use super::kept::{NotAlike, Others, Saved, count_kept, merged};
use super::layout::text_of;
use super::read::{contents, read, read_unverified, recognize};
use super::{Home, RunName, StoreError, StoredRun};
use crate::Replacement;
use gpubench_contract::{BenchmarkComplete, DeviceIdentity};

/// A place for a stored run: nothing is there, or a stored run that may be replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    path: Utf8PathBuf,
}

impl Destination {
    /// Looks whether a run could be saved, before there is one to lose.
    ///
    /// # Errors
    /// There is nowhere to keep it, the folder cannot be made or written to, or the file that is
    /// there is no stored run of a version that this tool knows.
    pub fn of(name: &RunName, home: &Home) -> Result<Destination, StoreError> {
        let path = home.place(name)?;
        refuse_to_lose(&path)?;
        Replacement::of(&path)
            .and_then(Replacement::abandon)
            .map_err(StoreError::not_written(&path))?;
        Ok(Destination { path })
    }

    /// The file.
    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// Looks whether what stays of the run that is there can lie in one file with a run on a device
    /// of this identity that has these cases, by their full names.
    ///
    /// # Errors
    /// It is of another device or was measured otherwise; it was edited, so that nobody knows what
    /// would stay.
    pub fn ensure_keepable(
        &self,
        identity: &DeviceIdentity,
        cases: &HashSet<String>,
        others: &Others,
    ) -> Result<(), StoreError> {
        match self.previous(cases, others)? {
            None => Ok(()),
            Some(previous) => count_kept(&previous, identity, cases, others)
                .map(|_| ())
                .map_err(|not_alike| self.not_alike(not_alike)),
        }
    }

    /// Saves a run there as [`save`] does, together with what stays of the run that is there, which
    /// is looked at now: another tool may have saved one meanwhile.
    ///
    /// # Errors
    /// As [`save`] and [`ensure_keepable`](Self::ensure_keepable).
    pub fn save(&self, stored: StoredRun, others: &Others) -> Result<Saved, StoreError> {
        let measured = stored.results.iter().map(BenchmarkComplete::full_name).collect();
        replace(&self.path, || {
            let (run, became) = match self.previous(&measured, others)? {
                None => (stored, Saved::default()),
                Some(previous) => merged(stored, previous, others).map_err(|not_alike| self.not_alike(not_alike))?,
            };
            Ok((written(&self.path, &run)?, became))
        })
    }

    /// The run that is there, of which something may stay. One that was edited has nothing that
    /// anybody could vouch for: it goes where all of it does, and stays where some of it would.
    fn previous(&self, measured: &HashSet<String>, others: &Others) -> Result<Option<StoredRun>, StoreError> {
        match read(&self.path) {
            Ok(previous) => Ok(Some(previous)),
            Err(StoreError::Unreadable { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(None),
            // Nobody can read it any more.
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

    fn not_alike(&self, source: NotAlike) -> StoreError {
        StoreError::NotAlike {
            path: self.path.clone(),
            source,
        }
    }
}

/// Writes a run as a whole: whatever happens meanwhile, the file holds what was there before or all
/// of the run.
///
/// # Errors
/// It cannot be written, or the file that is there is no stored run of a version that this tool
/// knows.
pub fn save(path: &Utf8Path, stored: &StoredRun) -> Result<(), StoreError> {
    replace(path, || Ok((written(path, stored)?, ())))
}

/// Replaces a file by a text that is made while no other process writes it; what is not ours is
/// left alone.
fn replace<T>(path: &Utf8Path, make: impl FnOnce() -> Result<(Vec<u8>, T), StoreError>) -> Result<T, StoreError> {
    let not_written = StoreError::not_written(path);
    let replacement = Replacement::of(path).map_err(&not_written)?;
    match refuse_to_lose(path).and_then(|()| make()) {
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

/// What is not ours to replace is left alone.
fn refuse_to_lose(path: &Utf8Path) -> Result<(), StoreError> {
    contents(path)?.map_or(Ok(()), |text| recognize(path, &text))
}
