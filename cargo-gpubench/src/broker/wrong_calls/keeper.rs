//! Writes the tensors of a wrong call. Their contents come from the referee. Of the names, what is
//! not plain is replaced: the crate under test chooses those of cases and tensors.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Write as _};

use camino::{Utf8Path, Utf8PathBuf};
use gpubench::catalog::Tensor;

use super::npy;
use crate::broker::file_names::plain;
use gpubench_contract::units::size;
use gpubench_diagnostic::{Place, chain, is_full_disk};
use gpubench_measure::clients::RoleFailure;
use gpubench_measure::measurement::{WrongCall, WrongCallKeeper};
use gpubench_protocol::wire::Contents;

/// Most bytes of the files of a case. Tensors that do not fit are left out.
const MOST_BYTES: u64 = 1 << 30;

/// The longest name of a tensor in the name of a file, in characters.
const LONGEST_NAME: usize = 60;

/// Keeps the tensors of a case's wrong call in files of a folder.
#[derive(Debug)]
pub(in crate::broker) struct NpyKeeper<'k> {
    folder: &'k Utf8Path,
    /// Begins the names of the files.
    case: String,
    /// What the message says about the call that was kept.
    kept: OnceCell<String>,
}

/// Why a tensor was not kept.
#[derive(Debug, thiserror::Error)]
enum KeepError {
    #[error(transparent)]
    Unread(#[from] RoleFailure),
    #[error("cannot write `{path}`")]
    Unwritten { path: Utf8PathBuf, source: io::Error },
}

impl<'k> NpyKeeper<'k> {
    /// Returns a keeper whose files have names that begin with `case`.
    pub(in crate::broker) fn new(folder: &'k Utf8Path, case: String) -> NpyKeeper<'k> {
        let kept = OnceCell::new();
        NpyKeeper { folder, case, kept }
    }

    /// Returns a keeper for the baseline of a case. The names of its files begin with a word, and
    /// those of all cases with a number.
    pub(in crate::broker) fn of_baseline(folder: &'k Utf8Path, case: &str) -> NpyKeeper<'k> {
        NpyKeeper::new(folder, format!("baseline.{case}"))
    }

    /// Returns the file for contents of the tensor at a position.
    fn path_of(&self, tensors: &[Tensor], position: usize, contents: Contents) -> Utf8PathBuf {
        let name_of = |tensor: &Tensor| plain(&tensor.name, LONGEST_NAME);
        let name = name_of(&tensors[position]);
        let names: BTreeSet<String> = tensors.iter().map(name_of).collect();
        let number = match names.len() == tensors.len() {
            true => String::new(),
            false => format!("{position}."),
        };
        self.folder
            .join(format!("{}.{number}{name}.{}.npy", self.case, word(contents)))
    }

    fn write(&self, call: &mut WrongCall<'_>, position: usize, contents: Contents) -> Result<Utf8PathBuf, KeepError> {
        let path = self.path_of(call.tensors, position, contents);
        let unwritten = |source| KeepError::Unwritten {
            path: path.clone(),
            source,
        };
        let (place, mut file) = create(&path).map_err(unwritten)?;
        let Tensor { dtype, shape, .. } = &call.tensors[position];
        let written = file.write_all(&npy::header(*dtype, shape)).map_err(unwritten);
        let written = written
            .and_then(|()| call.for_each_piece(position, contents, |piece| file.write_all(piece).map_err(unwritten)));
        match written {
            Ok(()) => Ok(path),
            Err(error) => {
                // A file that is not complete misleads. If it cannot be removed, NumPy refuses it.
                let _ = std::fs::remove_file(place.path());
                Err(error)
            }
        }
    }

    /// Writes all tensors of a call. Returns what the message says about it.
    fn write_all(&self, call: &mut WrongCall<'_>) -> Result<String, RoleFailure> {
        let (mut kept, mut lost) = (Vec::new(), Vec::new());
        let mut left = MOST_BYTES;
        for (position, contents) in wanted(call.tensors) {
            let Tensor { name, dtype, .. } = &call.tensors[position];
            let bytes = call.tensors[position].bytes();
            let Some(rest) = left.checked_sub(bytes) else {
                let [bytes, most] = [bytes, MOST_BYTES].map(size);
                let what = word(contents);
                lost.push(format!(
                    "`{name}` ({what}) is left out: it has {bytes}, and the files of a case have at most {most}"
                ));
                continue;
            };
            left = rest;
            match self.write(call, position, contents) {
                Ok(path) => {
                    let instead = npy::what_instead(*dtype).map(|words| format!(" ({words})"));
                    kept.push(format!("  {path}{}", instead.unwrap_or_default()));
                }
                Err(KeepError::Unread(failure)) if !can_go_on(&failure) => return Err(failure),
                Err(error) => {
                    lost.push(format!("further tensors are not kept: {}", words(&error)));
                    break;
                }
            }
        }
        let number = call.number;
        let title = format!("the tensors of call {number}, the first wrong one, for `numpy.load`:");
        let title = (!kept.is_empty()).then_some(title);
        Ok(title.into_iter().chain(kept).chain(lost).collect::<Vec<_>>().join("\n"))
    }
}

impl WrongCallKeeper for NpyKeeper<'_> {
    fn keep(&self, call: &mut WrongCall<'_>) -> Result<String, RoleFailure> {
        if let Some(kept) = self.kept.get() {
            return Ok(kept.clone());
        }
        let kept = self.write_all(call)?;
        Ok(self.kept.get_or_init(|| kept).clone())
    }
}

/// Returns what is kept, in its order: the position of each tensor, and which of its contents.
fn wanted(tensors: &[Tensor]) -> impl Iterator<Item = (usize, Contents)> {
    let outputs = tensors.iter().enumerate().filter(|(_, tensor)| tensor.role.is_output());
    let inputs = tensors.iter().enumerate().filter(|(_, tensor)| tensor.role.is_input());
    let outputs = outputs.flat_map(|(position, _)| [(position, Contents::Expected), (position, Contents::Got)]);
    outputs.chain(inputs.map(|(position, _)| (position, Contents::Input)))
}

fn word(contents: Contents) -> &'static str {
    match contents {
        Contents::Input => "input",
        Contents::Expected => "expected",
        Contents::Got => "got",
    }
}

/// Creates a file in place of an earlier one, and follows no link at the end of the path.
fn create(path: &Utf8Path) -> io::Result<(Place, File)> {
    let place = Place::of_entry(path)?;
    match std::fs::remove_file(place.path()) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let file = File::options().write(true).create_new(true).open(place.path())?;
    Ok((place, file))
}

/// Whether the referee still carries out orders.
fn can_go_on(failure: &RoleFailure) -> bool {
    matches!(failure, RoleFailure::Failed { .. } | RoleFailure::OutOfMemory { .. })
}

fn words(error: &KeepError) -> String {
    let hint = match is_full_disk(error) {
        true => " (hint: the disk is full: free some space, or name a folder on another disk)",
        false => "",
    };
    format!("{}{hint}", chain(error))
}

#[cfg(test)]
mod tests;
