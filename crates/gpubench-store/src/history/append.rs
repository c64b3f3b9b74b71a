//! Appending a run to a history.

use std::fs::File;
use std::io::{self, Write};

use camino::{Utf8Path, Utf8PathBuf};

use super::file::{head, path_of, whole_lines};
use super::{HistoryEntry, HistoryHead, MOST_RUNS, Tail};
use crate::lock::lock_to_write;
use crate::read::contents;
use crate::{Replacement, StoreError};
use gpubench_contract::DeviceIdentity;
use gpubench_diagnostic::{Place, create_regular};

/// The result of an append.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The history's file.
    pub path: Utf8PathBuf,
    /// The end of the file before the append. An unfinished line was cut off.
    pub tail: Tail,
}

/// Adds a run to the history of its device, after runs that other processes are adding. Starts a
/// history if there is none. If there are more than [`MOST_RUNS`], drops the oldest.
///
/// # Errors
/// The file cannot be written, or is not a history in this version's format. It is then unchanged.
pub fn append(folder: &Utf8Path, identity: &DeviceIdentity, entry: &HistoryEntry) -> Result<Appended, StoreError> {
    let path = path_of(folder, identity);
    let not_written = StoreError::not_written(&path);
    let _lock = lock(&path).map_err(&not_written)?;
    let text = contents(&path)?.unwrap_or_default();
    let line = line_of(entry).map_err(&not_written)?;
    if !text.is_empty() {
        head(&path, &text)?;
    }
    let (whole, tail) = whole_lines(&text);
    let written = match whole.iter().filter(|byte| **byte == b'\n').count() {
        0 => {
            let head = line_of(&HistoryHead::new(identity.clone())).map_err(&not_written)?;
            replace(&path, &[head, line].concat())
        }
        // One line is the header.
        lines if lines <= MOST_RUNS => extend(&path, whole.len() as u64, &line),
        _ => replace(&path, &[&latest(whole), line.as_slice()].concat()),
    };
    written.map_err(&not_written)?;
    Ok(Appended {
        path: path.clone(),
        tail,
    })
}

/// Checks that a run can be added to the history of a device, before anything is measured.
///
/// # Errors
/// The folder cannot be created or written to.
pub fn ensure_writable(folder: &Utf8Path, identity: &DeviceIdentity) -> Result<(), StoreError> {
    let path = path_of(folder, identity);
    lock(&path).map(drop).map_err(StoreError::not_written(&path))
}

/// Creates the folder, and waits until no other process writes. The lock is on a separate file
/// because the history itself may be replaced.
fn lock(path: &Utf8Path) -> io::Result<File> {
    let path = path.with_extension("lock");
    let file = create_regular(Place::with_folders(&path)?.path(), 0o666)?;
    lock_to_write(&file, &path)?;
    Ok(file)
}

fn line_of(value: &impl serde::Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    Ok(line)
}

/// Appends a line after the first `whole` bytes and drops everything else.
fn extend(path: &Utf8Path, whole: u64, line: &[u8]) -> io::Result<()> {
    let mut file = File::options().append(true).open(Place::from_path(path)?.path())?;
    if file.metadata()?.len() != whole {
        file.set_len(whole)?;
    }
    let written = file.write_all(line);
    if written.is_err() {
        // The disk may be full, and half a line is useless.
        let _ = file.set_len(whole);
    }
    written.and_then(|()| file.sync_all())
}

fn replace(path: &Utf8Path, text: &[u8]) -> io::Result<()> {
    Replacement::new(path)?.commit(text)
}

/// Returns the head and the latest runs, one fewer than the maximum.
fn latest(whole: &[u8]) -> Vec<u8> {
    let mut lines = whole.split_inclusive(|byte| *byte == b'\n');
    let head = lines.next().unwrap_or_default();
    let runs: Vec<&[u8]> = lines.collect();
    let kept = &runs[runs.len().saturating_sub(MOST_RUNS - 1)..];
    [head, &kept.concat()].concat()
}
