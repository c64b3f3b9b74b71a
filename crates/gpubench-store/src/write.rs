//! Writing of stored runs.

use std::collections::HashSet;
use std::io;

use camino::{Utf8Path, Utf8PathBuf};

use super::icounts;
use super::layout::text_of;
use super::read::{contents, read, read_unverified, recognize};
use super::{Home, RunName, StoreError, StoredRun};
use crate::Replacement;
use gpubench_contract::{BenchmarkComplete, ResultKey, Verdict};

/// The results of a stored run that a new run replaces although it does not have them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Replaced {
    /// All: the new run replaces the whole file.
    #[default]
    All,
    /// Those of these packages, whose cases were all selected.
    OfPackages(HashSet<String>),
    /// None: only some of the cases were selected.
    None,
}

/// What happened when a run was saved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Saved {
    /// Number of results of the earlier run whose cases or modes the new one does not have.
    pub gone: usize,
    /// The table of instructions next to the run. `None` if no instructions were counted.
    pub icounts: Option<Utf8PathBuf>,
}

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
    pub fn new(name: &RunName, home: &Home) -> Result<Destination, StoreError> {
        let path = home.place(name)?;
        ensure_replaceable(&path)?;
        icounts::ensure_replaceable(&path)?;
        Replacement::new(&path)
            .and_then(Replacement::abandon)
            .map_err(StoreError::not_written(&path))?;
        Ok(Destination { path })
    }

    /// Returns the path.
    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// Checks that no result is lost if a run with these results replaces the existing one.
    ///
    /// # Errors
    /// A result would be lost, or the existing run cannot be read.
    pub fn ensure_nothing_is_lost(&self, measured: &HashSet<ResultKey>, replaced: &Replaced) -> Result<(), StoreError> {
        self.previous(measured, replaced).map(|_| ())
    }

    /// Saves a run like [`save`], and the table of its instructions. It reads the existing file
    /// again, because another process may have written it meanwhile.
    ///
    /// # Errors
    /// The same as for [`save`] and [`ensure_nothing_is_lost`](Self::ensure_nothing_is_lost), or
    /// cases fail that passed in the existing run, unless a copy replaces it.
    pub fn save(&self, stored: &StoredRun, replaced: &Replaced) -> Result<Saved, StoreError> {
        let measured = stored.results.iter().map(BenchmarkComplete::key).collect();
        replace(&self.path, || {
            let previous = self.previous(&measured, replaced)?;
            let previous: &[BenchmarkComplete] = previous.as_ref().map_or(&[], |previous| &previous.results);
            if *replaced != Replaced::All {
                self.ensure_none_fails_now(stored, previous)?;
            }
            let text = written(&self.path, stored)?;
            let saved = Saved {
                gone: previous
                    .iter()
                    .filter(|result| !measured.contains(&result.key()))
                    .count(),
                icounts: icounts::write(&self.path, stored)?,
            };
            Ok((text, saved))
        })
    }

    /// Fails if a case fails that passed before: its good result would be lost, and with it what
    /// later runs are compared with.
    fn ensure_none_fails_now(&self, stored: &StoredRun, previous: &[BenchmarkComplete]) -> Result<(), StoreError> {
        let passed = previous.iter().filter(|result| result.verdict == Verdict::Pass);
        let passed: HashSet<ResultKey> = passed.map(BenchmarkComplete::key).collect();
        let failed = stored.results.iter().filter(|result| result.verdict.is_failure());
        let failed = failed.filter(|result| passed.contains(&result.key()));
        let cases: Vec<String> = failed
            .map(|result| result.reading().label(&result.full_name()))
            .collect();
        if cases.is_empty() {
            Ok(())
        } else {
            Err(StoreError::FailsNow {
                path: self.path.clone(),
                cases,
            })
        }
    }

    /// Reads the existing run. An edited one cannot be trusted: it is replaced if no result would
    /// be lost, and is an error otherwise.
    fn previous(&self, measured: &HashSet<ResultKey>, replaced: &Replaced) -> Result<Option<StoredRun>, StoreError> {
        let previous = match read(&self.path) {
            Ok(previous) => previous,
            Err(StoreError::Unreadable { source, .. }) if source.kind() == io::ErrorKind::NotFound => return Ok(None),
            // Values of an older format are not comparable.
            Err(StoreError::Older { .. }) => return Ok(None),
            Err(refusal @ (StoreError::Altered { .. } | StoreError::Contradictory { .. })) => {
                return match replaced.lost(&read_unverified(&self.path)?, measured) {
                    0 => Ok(None),
                    _ => Err(refusal),
                };
            }
            Err(refusal) => return Err(refusal),
        };
        match replaced.lost(&previous, measured) {
            0 => Ok(Some(previous)),
            results => Err(StoreError::Lost {
                path: self.path.clone(),
                results,
            }),
        }
    }
}

impl Replaced {
    /// Returns the number of results that would be lost.
    fn lost(&self, previous: &StoredRun, measured: &HashSet<ResultKey>) -> usize {
        let is_replaced = |result: &BenchmarkComplete| match self {
            Replaced::All => true,
            Replaced::OfPackages(packages) => packages.contains(&result.package),
            Replaced::None => false,
        };
        let results = previous.results.iter();
        results
            .filter(|result| !measured.contains(&result.key()) && !is_replaced(result))
            .count()
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
pub(super) fn replace<T>(
    path: &Utf8Path,
    make: impl FnOnce() -> Result<(Vec<u8>, T), StoreError>,
) -> Result<T, StoreError> {
    let not_written = StoreError::not_written(path);
    let replacement = Replacement::new(path).map_err(&not_written)?;
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

pub(super) fn written(path: &Utf8Path, run: &StoredRun) -> Result<Vec<u8>, StoreError> {
    text_of(run).map_err(|error| StoreError::not_written(path)(io::Error::other(error)))
}

/// Fails if the file exists and is not a stored run.
fn ensure_replaceable(path: &Utf8Path) -> Result<(), StoreError> {
    contents(path)?.map_or(Ok(()), |text| recognize(path, &text))
}

#[cfg(test)]
mod tests;
