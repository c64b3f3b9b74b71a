//! Reading of histories.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::series::SeriesRun;
use super::{HistoryCase, HistoryEntry};
use crate::StoreError;
use crate::error::{LEFT_ALONE, MALFORMED};
use crate::read::{contents, from_json};
use gpubench_contract::{DeviceIdentity, Metric, Mode};
use gpubench_stats::PastValue;

/// The `format` in the first line of every history.
pub const HISTORY_FORMAT: &str = "gpubench-history";

/// The format version that this tool writes.
pub const HISTORY_FORMAT_VERSION: u64 = 2;

/// The name of the file kind in messages.
pub(crate) const HISTORY: &str = "history";

const EXTENSION: &str = "jsonl";

/// The first line of a history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HistoryHead {
    /// [`HISTORY_FORMAT`].
    pub format: String,
    /// [`HISTORY_FORMAT_VERSION`].
    pub format_version: u64,
    /// The device of all runs in the history.
    pub identity: DeviceIdentity,
}

impl HistoryHead {
    /// Returns the head of a device's history.
    pub fn new(identity: DeviceIdentity) -> HistoryHead {
        HistoryHead {
            format: HISTORY_FORMAT.to_owned(),
            format_version: HISTORY_FORMAT_VERSION,
            identity,
        }
    }
}

/// The fields that identify a head of any version.
#[derive(Deserialize)]
struct AnyHead {
    format: Option<Value>,
    format_version: Option<u64>,
}

/// The history of a device, oldest run first.
#[derive(Clone, Debug, PartialEq)]
pub struct History {
    /// The device.
    pub identity: DeviceIdentity,
    /// The runs.
    pub entries: Vec<HistoryEntry>,
    /// How the file ends.
    pub tail: Tail,
}

/// How a history's file ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tail {
    /// With a whole line.
    Whole,
    /// With part of a line, because the writer was killed. The part is not among the entries, and
    /// the next append cuts it off.
    Unfinished,
}

impl History {
    /// Returns the values of a case in a mode and a metric on a GPU, in all runs that have it. Runs
    /// whose GPU is not known count as well.
    pub fn values(&self, case: &str, mode: Mode, metric: &Metric, gpu: Option<&str>) -> Vec<PastValue<&str>> {
        let is_meant = |known: &&HistoryCase| {
            let is_of_gpu = known
                .gpu
                .as_deref()
                .zip(gpu)
                .is_none_or(|(known, asked)| known == asked);
            known.case == case && known.mode == mode && known.metric == *metric && is_of_gpu
        };
        let runs = self.entries.iter().filter_map(|entry| {
            let case = entry.cases.iter().find(is_meant)?;
            Some(SeriesRun { entry, case })
        });
        runs.map(|run| run.value()).collect()
    }
}

/// Returns the path of a device's history in a folder.
pub(super) fn path_of(folder: &Utf8Path, identity: &DeviceIdentity) -> Utf8PathBuf {
    folder.join(identity.key()).with_extension(EXTENSION)
}

/// Reads the history of a device. `None` if there is none.
///
/// # Errors
/// The file cannot be read, is not a history, has another format version, or is damaged before its
/// last line.
pub fn of_device(folder: &Utf8Path, identity: &DeviceIdentity) -> Result<Option<History>, StoreError> {
    in_file(&path_of(folder, identity))
}

fn in_file(path: &Utf8Path) -> Result<Option<History>, StoreError> {
    contents(path)?.map(|text| parse(path, &text)).transpose()
}

/// Reads all histories in a folder, sorted by file name. Empty if there is no folder.
///
/// # Errors
/// The same as for [`of_device`].
pub fn all(folder: &Utf8Path) -> Result<Vec<History>, StoreError> {
    let entries = match folder.read_dir_utf8() {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(StoreError::unreadable(folder)(source)),
    };
    let mut paths: Vec<Utf8PathBuf> = entries
        .flatten()
        .map(|entry| entry.into_path())
        .filter(|path| path.extension() == Some(EXTENSION))
        .collect();
    paths.sort();
    paths.iter().filter_map(|path| in_file(path).transpose()).collect()
}

/// Returns the whole lines of a history, and how it ends.
pub(super) fn whole_lines(text: &[u8]) -> (&[u8], Tail) {
    match text.iter().rposition(|byte| *byte == b'\n') {
        Some(last) if last + 1 == text.len() => (text, Tail::Whole),
        Some(last) => (&text[..=last], Tail::Unfinished),
        None if text.is_empty() => (text, Tail::Whole),
        None => (&text[..0], Tail::Unfinished),
    }
}

/// Reads the first line.
///
/// # Errors
/// It is not the head of a history in this version's format.
pub(super) fn head(path: &Utf8Path, text: &[u8]) -> Result<HistoryHead, StoreError> {
    let how = || format!("is not a {HISTORY}: its first line is not the header of a history");
    let foreign = || StoreError::refused(path, how(), LEFT_ALONE);
    let first = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let any: AnyHead = serde_json::from_slice(first).map_err(|_| foreign())?;
    match (&any.format, any.format_version) {
        (Some(Value::String(format)), Some(found)) if format == HISTORY_FORMAT => {
            StoreError::unless_of_version(path, HISTORY, found, HISTORY_FORMAT_VERSION, None)?;
            serde_json::from_slice(first).map_err(StoreError::refused_by_json(path, MALFORMED))
        }
        _ => Err(foreign()),
    }
}

fn parse(path: &Utf8Path, text: &[u8]) -> Result<History, StoreError> {
    let HistoryHead { identity, .. } = head(path, text)?;
    let (whole, tail) = whole_lines(text);
    let lines = whole.split(|byte| *byte == b'\n').enumerate().skip(1);
    let filled = lines.filter(|(_, line)| !line.iter().all(u8::is_ascii_whitespace));
    let entry = |(position, line): (usize, &[u8])| {
        from_json(line).map_err(|source| StoreError::HistoryLine {
            path: path.to_owned(),
            line: position + 1,
            source,
        })
    };
    let mut entries: Vec<HistoryEntry> = filled.map(entry).collect::<Result<_, _>>()?;
    name_warm_calls(&identity, &mut entries);
    Ok(History {
        identity,
        entries,
        tail,
    })
}

/// Corrects the mode of entries that older versions of the tool wrote without one. If nothing was
/// flushed, no call was cold.
fn name_warm_calls(identity: &DeviceIdentity, entries: &mut [HistoryEntry]) {
    if identity.flush_bytes == Some(0) {
        let cases = entries.iter_mut().flat_map(|entry| &mut entry.cases);
        let cold = cases.filter(|case| case.mode == Mode::Cold);
        cold.for_each(|case| case.mode = Mode::Warm);
    }
}
