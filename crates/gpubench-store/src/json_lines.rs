//! Reading of a run from the lines of `--export-json` and `--message-format json`.

use camino::Utf8Path;
use serde::Deserialize;
use serde::de::{DeserializeOwned, Error};
use serde_json::error::Category;

use super::error::{FORMAT_NAME, MALFORMED, NOT_JSON};
use super::read::{foreign, truncated};
use super::{FORMAT, FORMAT_VERSION, StoreError, StoredRun};
use gpubench_contract::{BenchmarkComplete, RunFinished, RunStarted, SchemaVersion};

/// The fields that every record has.
#[derive(Deserialize)]
struct RecordHead {
    reason: Option<String>,
    schema_version: Option<u64>,
}

pub(super) fn run_of_lines(path: &Utf8Path, text: &[u8]) -> Result<StoredRun, StoreError> {
    let mut runs: Vec<RunStarted> = Vec::new();
    let (mut results, mut finished): (Vec<BenchmarkComplete>, Option<RunFinished>) = (Vec::new(), None);
    for (position, line) in text.split(|byte| *byte == b'\n').enumerate() {
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let number = position + 1;
        let head: RecordHead = record(path, number, line)?;
        if let Some(found) = head.schema_version {
            StoreError::unless_of_version(path, FORMAT_NAME, found, SchemaVersion::NUMBER, None)?;
        }
        // Ignores records that later versions add.
        match head.reason.as_deref() {
            Some("run-started") => runs.push(record(path, number, line)?),
            Some("benchmark-complete") => results.push(record(path, number, line)?),
            Some("run-finished") => finished = Some(record(path, number, line)?),
            _ => {}
        }
    }
    match <[RunStarted; 1]>::try_from(runs) {
        Ok([run]) => Ok(StoredRun {
            format: FORMAT.to_owned(),
            format_version: FORMAT_VERSION,
            saved_at: run.started_at.clone(),
            revision: run.revision.clone(),
            run,
            results,
            finished,
        }),
        Err(none) if none.is_empty() => Err(foreign(path, "it has no `run-started` record".to_owned())),
        Err(runs) => {
            let how = format!("contains {} runs", runs.len());
            Err(StoreError::refused(path, how, "split it into one file per run"))
        }
    }
}

/// Parses a line as a record. The error has the line number in the file, since serde_json sees only
/// one line.
fn record<T: DeserializeOwned>(path: &Utf8Path, number: usize, line: &[u8]) -> Result<T, StoreError> {
    serde_json::from_slice(line).map_err(|error| match error.classify() {
        Category::Eof => truncated(path, number),
        Category::Data => StoreError::refused_by_json(path, MALFORMED)(in_line(number, &error)),
        Category::Syntax | Category::Io => StoreError::refused_by_json(path, NOT_JSON)(in_line(number, &error)),
    })
}

fn in_line(number: usize, error: &serde_json::Error) -> serde_json::Error {
    let text = error.to_string();
    let what = text.split(" at line ").next().unwrap_or_default();
    serde_json::Error::custom(format_args!("{what} at line {number} column {}", error.column()))
}
