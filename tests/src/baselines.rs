//! Files with stored runs, for tests of baselines.

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;
use tempfile::TempDir;

/// A temporary folder of stored runs.
#[derive(Debug)]
pub struct RunFolder {
    path: Utf8PathBuf,
    _kept: TempDir,
}

impl RunFolder {
    /// Creates an empty folder.
    ///
    /// # Panics
    /// If it cannot be created.
    pub fn new() -> RunFolder {
        let kept = tempfile::tempdir().expect("a folder can be made");
        RunFolder {
            path: Utf8PathBuf::from_path_buf(kept.path().to_owned()).expect("the name is text"),
            _kept: kept,
        }
    }

    /// Returns the path of a file in the folder.
    pub fn path(&self, name: &str) -> Utf8PathBuf {
        self.path.join(name)
    }

    /// Writes a file and returns its path.
    ///
    /// # Panics
    /// If the file cannot be written.
    pub fn file(&self, name: &str, contents: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        std::fs::write(&path, contents).expect("a file can be written");
        path.into_string()
    }

    /// Writes records, one per line, and returns the file's path.
    ///
    /// # Panics
    /// If the file cannot be written.
    pub fn lines(&self, name: &str, records: &[Value]) -> String {
        let lines: String = records.iter().map(|record| format!("{record}\n")).collect();
        self.file(name, lines)
    }

    /// Returns the names of the files in the folder, sorted.
    ///
    /// # Panics
    /// If the folder cannot be read.
    pub fn names(&self) -> Vec<String> {
        names_in(&self.path)
    }
}

impl Default for RunFolder {
    fn default() -> RunFolder {
        RunFolder::new()
    }
}

fn names_in(folder: &Utf8Path) -> Vec<String> {
    let entries = folder.read_dir_utf8().expect("the folder can be read").flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_owned()).collect();
    names.sort();
    names
}

/// Returns the run with all times multiplied by `factor`.
///
/// # Panics
/// If a record is malformed.
pub fn slowed(records: &[Value], factor: f64) -> Vec<Value> {
    let mut records = records.to_vec();
    for record in records
        .iter_mut()
        .filter(|record| record["reason"] == "benchmark-complete")
    {
        scale(&mut record["samples"], factor);
        for worker in record["workers"].as_array_mut().expect("a list") {
            scale(&mut worker["value"], factor);
        }
        if let Some(stats) = record["stats"].as_object_mut() {
            let values = stats.iter_mut().filter(|(name, _)| !["n", "cv"].contains(&&***name));
            values.for_each(|(_, value)| scale(value, factor));
        }
    }
    records
}

/// Returns the records of a run as on a quiet machine: every time is a thousand times closer to the
/// value of its case or of its twin.
///
/// # Panics
/// If a record does not have what its reason promises.
pub fn steadied(records: &[Value]) -> Vec<Value> {
    let mut records = records.to_vec();
    for record in records.iter_mut().filter(|record| record["stats"].is_object()) {
        let value = record["stats"]["value"].as_f64().expect("a number");
        approach(&mut record["samples"], value);
        for worker in record["workers"].as_array_mut().expect("a list") {
            approach(&mut worker["value"], value);
        }
        let twin = record["twin"].as_object_mut().expect("a twin");
        let of_twin = twin["value_ns"].as_f64().expect("a number");
        twin.values_mut().for_each(|times| approach(times, of_twin));
        let stats = record["stats"].as_object_mut().expect("stats");
        for (name, figure) in stats.iter_mut().filter(|(name, _)| *name != "n") {
            match name.as_str() {
                "cv" | "stddev" => scale(figure, 1e-3),
                _ => approach(figure, value),
            }
        }
    }
    records
}

fn approach(value: &mut Value, center: f64) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(|value| approach(value, center)),
        Value::Number(number) => {
            *value = Value::from(center + (number.as_f64().expect("a number") - center) * 1e-3);
        }
        _ => {}
    }
}

fn scale(value: &mut Value, factor: f64) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(|value| scale(value, factor)),
        Value::Number(number) => *value = Value::from(number.as_f64().expect("a number") * factor),
        _ => {}
    }
}
