//! Runs in files: what a test makes of one.

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;
use tempfile::TempDir;

/// A folder of stored runs, removed when this is dropped.
#[derive(Debug)]
pub struct RunFolder {
    path: Utf8PathBuf,
    _kept: TempDir,
}

impl RunFolder {
    /// An empty one.
    ///
    /// # Panics
    /// When it cannot be made.
    pub fn new() -> RunFolder {
        let kept = tempfile::tempdir().expect("a folder can be made");
        RunFolder {
            path: Utf8PathBuf::from_path_buf(kept.path().to_owned()).expect("the name is text"),
            _kept: kept,
        }
    }

    /// The path of a file in it.
    pub fn path(&self, name: &str) -> Utf8PathBuf {
        self.path.join(name)
    }

    /// Writes a file and gives its path as text.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn file(&self, name: &str, contents: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        std::fs::write(&path, contents).expect("a file can be written");
        path.into_string()
    }

    /// Writes records as lines and gives the file's path as text.
    ///
    /// # Panics
    /// When they cannot be written.
    pub fn lines(&self, name: &str, records: &[Value]) -> String {
        let lines: String = records.iter().map(|record| format!("{record}\n")).collect();
        self.file(name, lines)
    }

    /// The names of the files in it, in order.
    ///
    /// # Panics
    /// When it cannot be read.
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

/// The same run, each of whose times is `factor` times as long.
///
/// # Panics
/// When a record is none.
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

fn scale(value: &mut Value, factor: f64) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(|value| scale(value, factor)),
        Value::Number(number) => *value = Value::from(number.as_f64().expect("a number") * factor),
        _ => {}
    }
}
