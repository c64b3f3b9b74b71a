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
use gpubench_diagnostic::create_regular;

/// What an append did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The history's file.
    pub path: Utf8PathBuf,
    /// How it ended before; what was unfinished has been cut off.
    pub tail: Tail,
}

/// Adds a run to the history of its device, behind those that other processes add at the same time.
/// Without a history it begins one; beyond [`MOST_RUNS`] the oldest are dropped.
///
/// # Errors
/// The file cannot be written, or is no history that this tool knows, and then it is left alone.
pub fn append(folder: &Utf8Path, identity: &DeviceIdentity, entry: &HistoryEntry) -> Result<Appended, StoreError> {
    let path = path_of(folder, identity);
    let not_written = StoreError::not_written(&path);
    std::fs::create_dir_all(folder).map_err(&not_written)?;
    let _turn = turn(&path).map_err(&not_written)?;
    let text = contents(&path)?.unwrap_or_default();
    let line = line_of(entry).map_err(&not_written)?;
    let (written, tail) = if text.is_empty() {
        let begun = [line_of(&HistoryHead::of(identity.clone())).map_err(&not_written)?, line].concat();
        (replace(&path, &begun), Tail::Whole)
    } else {
        head(&path, &text)?;
        let (whole, tail) = whole_lines(&text);
        let runs = whole.iter().filter(|byte| **byte == b'\n').count().saturating_sub(1);
        match runs < MOST_RUNS {
            true => (extend(&path, whole.len() as u64, &line), tail),
            false => (replace(&path, &[&latest(whole), line.as_slice()].concat()), tail),
        }
    };
    written.map_err(&not_written)?;
    Ok(Appended {
        path: path.clone(),
        tail,
    })
}

/// Makes sure that a run could be added to the history of a device, before there is one to lose.
///
/// # Errors
/// The folder cannot be made or written to.
pub fn ensure_writable(folder: &Utf8Path, identity: &DeviceIdentity) -> Result<(), StoreError> {
    let path = path_of(folder, identity);
    let ready = std::fs::create_dir_all(folder).and_then(|()| turn(&path));
    ready.map(drop).map_err(StoreError::not_written(&path))
}

/// Waits until no other process writes. The lock is on a file of its own, since the history itself
/// may be replaced.
fn turn(path: &Utf8Path) -> io::Result<File> {
    let lock = path.with_extension("lock");
    let file = create_regular(&lock, 0o666)?;
    lock_to_write(&file, &lock)?;
    Ok(file)
}

fn line_of(value: &impl serde::Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    Ok(line)
}

/// Puts a line behind the first `whole` bytes; what is behind them is lost.
fn extend(path: &Utf8Path, whole: u64, line: &[u8]) -> io::Result<()> {
    let mut file = File::options().append(true).open(path)?;
    if file.metadata()?.len() != whole {
        file.set_len(whole)?;
    }
    let written = file.write_all(line);
    if written.is_err() {
        // The disk may be full, and half a line is of no use to anybody.
        let _ = file.set_len(whole);
    }
    written.and_then(|()| file.sync_all())
}

fn replace(path: &Utf8Path, text: &[u8]) -> io::Result<()> {
    Replacement::of(path)?.commit(text)
}

/// The head and the latest runs, one fewer than the most.
fn latest(whole: &[u8]) -> Vec<u8> {
    let mut lines = whole.split_inclusive(|byte| *byte == b'\n');
    let head = lines.next().unwrap_or_default();
    let runs: Vec<&[u8]> = lines.collect();
    let kept = &runs[runs.len().saturating_sub(MOST_RUNS - 1)..];
    [head, &kept.concat()].concat()
}
