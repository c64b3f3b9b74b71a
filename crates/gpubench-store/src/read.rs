//! Reading stored runs, and refusing what is none.

use std::io;

use camino::Utf8Path;
use serde::Deserialize;
use serde_json::Value;
use serde_json::error::Category;

use super::contradiction::check;
use super::error::{FORMAT_NAME, LEFT_ALONE, MALFORMED, NOT_JSON, foreign_format};
use super::json_lines::run_of_lines;
use super::layout::is_as_written;
use super::{FORMAT, FORMAT_VERSION, Home, RunName, StoreError, StoredRun};
use gpubench_diagnostic::read_at_most;

/// Most bytes of a stored run or a history, which are read whole: more than a hundred thousand
/// cases.
const LONGEST: u64 = 512 << 20;

/// What any file of the tool's says of itself, however new it is.
#[derive(Deserialize)]
struct Head {
    format: Option<Value>,
    format_version: Option<Value>,
    reason: Option<Value>,
    run: Option<Value>,
}

/// Finds and reads the run that a person names.
///
/// # Errors
/// There is none, or it is refused as [`read`] says.
pub fn load(name: &RunName, home: &Home) -> Result<StoredRun, StoreError> {
    read(&home.find(name)?)
}

/// Reads a stored run, or the lines of `--export-json` and `--message-format json`.
///
/// # Errors
/// The file cannot be read, is truncated, something else, of another version's format, changed
/// since it was written, contradicts itself, or holds several runs.
pub fn read(path: &Utf8Path) -> Result<StoredRun, StoreError> {
    let text = read_at_most(path, LONGEST).map_err(StoreError::unreadable(path))?;
    let stored = parse(path, &text)?;
    check(&stored).map_err(|source| StoreError::Contradictory {
        path: path.to_owned(),
        source,
    })?;
    Ok(stored)
}

/// What a stored run says that [`read`] refuses because it was edited. Nothing in it may be shown,
/// kept or compared: it is only for what would be lost with it.
///
/// # Errors
/// It is no stored run of a version that this tool knows.
pub(super) fn read_unverified(path: &Utf8Path) -> Result<StoredRun, StoreError> {
    let text = read_at_most(path, LONGEST).map_err(StoreError::unreadable(path))?;
    let as_it_says = || from_json(&text).map_err(|source| refusal_of_record(path, &text, source));
    match parse(path, &text) {
        Err(StoreError::Altered { .. }) => as_it_says(),
        parsed => parsed,
    }
}

/// Whether a file is a stored run that this tool may replace: one that was edited or that an
/// earlier tool wrote may be, one that is something else never.
///
/// # Errors
/// It is not.
pub(super) fn recognize(path: &Utf8Path, text: &[u8]) -> Result<(), StoreError> {
    match kind_of(path, text)? {
        Kind::Stored(head) => match of_this_version(path, &head) {
            Err(StoreError::Older { .. }) => Ok(()),
            known => known,
        },
        Kind::Lines => run_of_lines(path, text).map(drop),
    }
}

/// What is in a file; `None` where there is none.
pub(super) fn contents(path: &Utf8Path) -> Result<Option<Vec<u8>>, StoreError> {
    match read_at_most(path, LONGEST) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(StoreError::unreadable(path)(source)),
    }
}

/// A value of JSON. A text that is checked as a whole need not be checked string by string.
///
/// # Errors
/// As [`serde_json::from_slice`].
pub(super) fn from_json<'a, T: Deserialize<'a>>(text: &'a [u8]) -> serde_json::Result<T> {
    match std::str::from_utf8(text) {
        Ok(text) => serde_json::from_str(text),
        Err(_) => serde_json::from_slice(text),
    }
}

/// What a text says it is.
enum Kind {
    /// A stored run of some version.
    Stored(Head),
    /// The lines of a run.
    Lines,
}

fn kind_of(path: &Utf8Path, text: &[u8]) -> Result<Kind, StoreError> {
    let head = match serde_json::Deserializer::from_slice(text).into_iter::<Head>().next() {
        Some(head) => head.map_err(|error| refusal(path, text, error))?,
        None => return Err(StoreError::refused(path, "is empty", LEFT_ALONE)),
    };
    match (&head.format, &head.reason) {
        (Some(Value::String(format)), _) if format == FORMAT => Ok(Kind::Stored(head)),
        (None, Some(Value::String(_))) => Ok(Kind::Lines),
        (format, _) => Err(foreign(path, foreign_format(format.as_ref()))),
    }
}

fn parse(path: &Utf8Path, text: &[u8]) -> Result<StoredRun, StoreError> {
    let Kind::Stored(head) = kind_of(path, text)? else {
        return run_of_lines(path, text);
    };
    of_this_version(path, &head)?;
    let stored = from_json(text).map_err(|source| refusal_of_record(path, text, source))?;
    if !is_as_written(text) {
        return Err(StoreError::Altered { path: path.to_owned() });
    }
    Ok(stored)
}

fn of_this_version(path: &Utf8Path, head: &Head) -> Result<(), StoreError> {
    let Some(found) = head.format_version.as_ref().and_then(Value::as_u64) else {
        let found = "it does not say which version of the format it has";
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
    StoreError::refused(path, format!("is no {FORMAT_NAME}: {found}"), hint)
}

/// What a text is whose first value does not say.
fn refusal(path: &Utf8Path, text: &[u8], error: serde_json::Error) -> StoreError {
    match error.classify() {
        Category::Eof => truncated(path, error.line()),
        Category::Syntax if is_at_the_end(text, &error) => truncated(path, error.line()),
        Category::Data => foreign(path, "it is JSON of another kind".to_owned()),
        Category::Syntax | Category::Io => StoreError::refused_by_json(path, NOT_JSON)(error),
    }
}

/// A number that ends in its sign or its point is invalid, and if nothing comes after it, it has
/// been cut off.
fn is_at_the_end(text: &[u8], error: &serde_json::Error) -> bool {
    let lines = text.split(|byte| *byte == b'\n');
    let (count, last) = lines.fold((0, 0), |(count, _), line| (count + 1, line.len()));
    error.line() == count && error.column() >= last && text.first() == Some(&b'{')
}

/// What is wrong with a record of a format that is known.
fn refusal_of_record(path: &Utf8Path, text: &[u8], error: serde_json::Error) -> StoreError {
    match error.classify() {
        Category::Data => StoreError::refused_by_json(path, MALFORMED)(error),
        _ => refusal(path, text, error),
    }
}
