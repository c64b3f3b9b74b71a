//! Reading and validation of stored runs.

use std::io;

use camino::Utf8Path;
use serde::Deserialize;
use serde_json::Value;
use serde_json::error::Category;

use super::contradiction::check;
use super::error::{FORMAT_NAME, LEFT_ALONE, MALFORMED, NOT_JSON, foreign_format};
use super::json_lines::run_of_lines;
use super::layout::is_as_written;
use super::{FORMAT, FORMAT_VERSION, Home, RunName, StoreError, StoredRun, nvbench};
use gpubench_diagnostic::read_at_most;

/// Maximum size of a stored run or a history in bytes. They are read whole, and this is enough for
/// more than a hundred thousand cases.
pub(super) const LONGEST: u64 = 512 << 20;

/// The fields that identify any file of the tool, in any version.
#[derive(Deserialize)]
pub(super) struct Head {
    format: Option<Value>,
    format_version: Option<Value>,
    reason: Option<Value>,
    run: Option<Value>,
    /// NVBench's files have it.
    meta: Option<Value>,
}

/// Finds and reads the run with a name.
///
/// # Errors
/// There is none, or [`read`] rejects it.
pub fn load(name: &RunName, home: &Home) -> Result<StoredRun, StoreError> {
    read(&home.find(name)?)
}

/// Finds and reads the run with a name, to compare another one with it. It may be a file of
/// NVBench: see [`adopt_nvbench`](crate::adopt_nvbench).
///
/// # Errors
/// There is none, or it is neither a run nor a usable file of NVBench.
pub fn load_to_compare(name: &RunName, home: &Home) -> Result<StoredRun, StoreError> {
    let path = home.find(name)?;
    let text = read_at_most(&path, LONGEST).map_err(StoreError::unreadable(&path))?;
    match kind_of(&path, &text)? {
        Kind::NvBench => nvbench::parse(&path, &text),
        Kind::Stored(_) | Kind::Lines => checked(&path, &text),
    }
}

/// Reads a stored run, or the lines of `--export-json` and `--message-format json`.
///
/// # Errors
/// The file cannot be read, is truncated, is not a stored run, has another format version, was
/// edited, contradicts itself, or contains several runs.
pub fn read(path: &Utf8Path) -> Result<StoredRun, StoreError> {
    let text = read_at_most(path, LONGEST).map_err(StoreError::unreadable(path))?;
    checked(path, &text)
}

fn checked(path: &Utf8Path, text: &[u8]) -> Result<StoredRun, StoreError> {
    let stored = parse(path, text)?;
    check(&stored).map_err(|source| StoreError::Contradictory {
        path: path.to_owned(),
        source,
    })?;
    Ok(stored)
}

/// Reads a stored run that [`read`] rejects because it was edited. The result must not be shown,
/// kept or compared. It only shows which results would be lost.
///
/// # Errors
/// It is not a stored run in this version's format.
pub(super) fn read_unverified(path: &Utf8Path) -> Result<StoredRun, StoreError> {
    let text = read_at_most(path, LONGEST).map_err(StoreError::unreadable(path))?;
    let as_it_says = || from_json(&text).map_err(|source| refusal_of_record(path, &text, source));
    match parse(path, &text) {
        Err(StoreError::Altered { .. }) => as_it_says(),
        parsed => parsed,
    }
}

/// Checks that a file is a stored run that may be replaced. It may be edited or from an earlier
/// version of the tool.
///
/// # Errors
/// It is something else.
pub(super) fn recognize(path: &Utf8Path, text: &[u8]) -> Result<(), StoreError> {
    match kind_of(path, text)? {
        Kind::Stored(head) => match of_this_version(path, &head) {
            Err(StoreError::Older { .. }) => Ok(()),
            known => known,
        },
        Kind::Lines => run_of_lines(path, text).map(drop),
        Kind::NvBench => Err(only_to_compare(path)),
    }
}

/// Reads a file. `None` if it does not exist.
pub(super) fn contents(path: &Utf8Path) -> Result<Option<Vec<u8>>, StoreError> {
    match read_at_most(path, LONGEST) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(StoreError::unreadable(path)(source)),
    }
}

/// Parses JSON. Checking the whole text as UTF-8 first is faster than checking each string.
///
/// # Errors
/// The same as for [`serde_json::from_slice`].
pub(super) fn from_json<'a, T: Deserialize<'a>>(text: &'a [u8]) -> serde_json::Result<T> {
    match std::str::from_utf8(text) {
        Ok(text) => serde_json::from_str(text),
        Err(_) => serde_json::from_slice(text),
    }
}

/// The kind of a file.
pub(super) enum Kind {
    /// A stored run of any version.
    Stored(Head),
    /// The JSON lines of a run.
    Lines,
    /// NVBench's JSON.
    NvBench,
}

pub(super) fn kind_of(path: &Utf8Path, text: &[u8]) -> Result<Kind, StoreError> {
    let head = match serde_json::Deserializer::from_slice(text).into_iter::<Head>().next() {
        Some(head) => head.map_err(|error| refusal(path, text, error))?,
        None => return Err(StoreError::refused(path, "is empty", LEFT_ALONE)),
    };
    match (&head.format, &head.reason) {
        (Some(Value::String(format)), _) if format == FORMAT => Ok(Kind::Stored(head)),
        (None, Some(Value::String(_))) => Ok(Kind::Lines),
        (None, None) if is_of_nvbench(head.meta.as_ref()) => Ok(Kind::NvBench),
        (format, _) => Err(foreign(path, foreign_format(format.as_ref()))),
    }
}

fn parse(path: &Utf8Path, text: &[u8]) -> Result<StoredRun, StoreError> {
    let head = match kind_of(path, text)? {
        Kind::Stored(head) => head,
        Kind::Lines => return run_of_lines(path, text),
        Kind::NvBench => return Err(only_to_compare(path)),
    };
    of_this_version(path, &head)?;
    let stored = from_json(text).map_err(|source| refusal_of_record(path, text, source))?;
    if !is_as_written(text) {
        return Err(StoreError::Altered { path: path.to_owned() });
    }
    Ok(stored)
}

fn is_of_nvbench(meta: Option<&Value>) -> bool {
    meta.is_some_and(|meta| meta["version"]["nvbench"].is_object())
}

fn only_to_compare(path: &Utf8Path) -> StoreError {
    let hint = "`--baseline` and the first run of `cargo gpubench compare` take it";
    StoreError::refused(
        path,
        "is a file of NVBench, which a run can only be compared with",
        hint,
    )
}

fn of_this_version(path: &Utf8Path, head: &Head) -> Result<(), StoreError> {
    let Some(found) = head.format_version.as_ref().and_then(Value::as_u64) else {
        let found = "it has no valid `format_version`";
        return Err(foreign(path, found.to_owned()));
    };
    let written_by = head.run.as_ref().and_then(|run| run["tool_version"].as_str());
    StoreError::unless_of_version(path, FORMAT_NAME, found, FORMAT_VERSION, written_by)
}

pub(super) fn truncated(path: &Utf8Path, line: usize) -> StoreError {
    StoreError::refused(path, format!("is truncated: it ends in line {line}"), LEFT_ALONE)
}

pub(super) fn foreign(path: &Utf8Path, found: String) -> StoreError {
    let hint = format!("`--save-baseline` and `--export-json` write stored runs; {LEFT_ALONE}");
    StoreError::refused(path, format!("is not a {FORMAT_NAME}: {found}"), hint)
}

/// Returns the error for a text whose first value cannot be parsed.
fn refusal(path: &Utf8Path, text: &[u8], error: serde_json::Error) -> StoreError {
    match error.classify() {
        Category::Eof => truncated(path, error.line()),
        Category::Syntax if is_at_the_end(text, &error) => truncated(path, error.line()),
        Category::Data => foreign(path, "it is other JSON".to_owned()),
        Category::Syntax | Category::Io => StoreError::refused_by_json(path, NOT_JSON)(error),
    }
}

/// Whether the error is at the end of the file. A number that ends in its sign or its point is a
/// syntax error, and at the end of the file it means that the file is truncated.
fn is_at_the_end(text: &[u8], error: &serde_json::Error) -> bool {
    let lines = text.split(|byte| *byte == b'\n');
    let (count, last) = lines.fold((0, 0), |(count, _), line| (count + 1, line.len()));
    error.line() == count && error.column() >= last && text.first() == Some(&b'{')
}

/// Returns the error for a record of a known format.
fn refusal_of_record(path: &Utf8Path, text: &[u8], error: serde_json::Error) -> StoreError {
    match error.classify() {
        Category::Data => StoreError::refused_by_json(path, MALFORMED)(error),
        _ => refusal(path, text, error),
    }
}
