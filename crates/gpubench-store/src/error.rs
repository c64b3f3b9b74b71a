//! Why a stored run or a history cannot be read or written.

use std::cmp::Ordering;
use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use thiserror::Error;

use super::{Contradiction, FORMAT};
use gpubench_contract::RENAMED;
use gpubench_contract::units::counted;
use gpubench_diagnostic::{ExitCode, Expected, closest, in_backticks};

/// Why a stored run or a history cannot be read or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The named thing does not exist, or there is no folder for it.
    #[error("there is no {what}")]
    Missing {
        /// The missing thing.
        what: String,
        /// What the user can do.
        hint: String,
    },
    /// A file exists but cannot be read.
    #[error("could not read `{path}`")]
    Unreadable {
        /// The file.
        path: Utf8PathBuf,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },
    /// A file has unexpected contents: empty, truncated, not JSON, another format or a later
    /// version.
    #[error("`{path}` {how}")]
    Refused {
        /// The file.
        path: Utf8PathBuf,
        /// What is wrong, as the rest of a sentence that starts with the path.
        how: String,
        /// The position of the error in the JSON, if known.
        source: Option<serde_json::Error>,
        /// What the user can do.
        hint: String,
    },
    /// An earlier version of the tool wrote the file. Its values have another meaning.
    #[error("`{path}` is a {what} in format version {found}, but `cargo gpubench` {tool} reads version {known}")]
    Older {
        /// The file.
        path: Utf8PathBuf,
        /// The kind of file.
        what: &'static str,
        /// The file's version.
        found: u64,
        /// The version that this tool reads.
        known: u64,
        /// The version of this tool.
        tool: &'static str,
    },
    /// The contents of a file are not the contents that were written.
    #[error("`{path}` was changed after it was written: its digest does not match its contents")]
    Altered {
        /// The file.
        path: Utf8PathBuf,
    },
    /// The contents of a file contradict each other.
    #[error("`{path}` contradicts itself")]
    Contradictory {
        /// The file.
        path: Utf8PathBuf,
        /// The contradiction.
        #[source]
        source: Contradiction,
    },
    /// A file has results that the run to save does not have.
    #[error("`{path}` has {} that this run does not measure", counted(*results, "result"))]
    Lost {
        /// The file.
        path: Utf8PathBuf,
        /// Number of results.
        results: usize,
    },
    /// Cases fail that passed in the file.
    #[error("`{path}` is not replaced: {} passed there and now {}", counted(cases.len(), "case"), if cases.len() == 1 { "fails" } else { "fail" })]
    FailsNow {
        /// The file.
        path: Utf8PathBuf,
        /// Their full names, with their readings.
        cases: Vec<String>,
    },
    /// A line of a history cannot be read.
    #[error("line {line} of the history `{path}` is damaged")]
    HistoryLine {
        /// The file.
        path: Utf8PathBuf,
        /// The line number, from 1.
        line: usize,
        /// The JSON error.
        #[source]
        source: serde_json::Error,
    },
    /// A link in a folder leads out of it.
    #[error("a link leads from `{path}` out of `{folder}`")]
    Leaves {
        /// The file.
        path: Utf8PathBuf,
        /// The folder.
        folder: Utf8PathBuf,
    },
    /// A file cannot be written. An existing file is unchanged.
    #[error("could not write `{path}`")]
    NotWritten {
        /// The file.
        path: Utf8PathBuf,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },
}

impl StoreError {
    /// Fails unless a file has the format version that this tool reads.
    pub(super) fn unless_of_version(
        path: &Utf8Path,
        what: &'static str,
        found: u64,
        known: u64,
        written_by: Option<&str>,
    ) -> Result<(), StoreError> {
        let (path, tool) = (path.to_owned(), env!("CARGO_PKG_VERSION"));
        match found.cmp(&known) {
            Ordering::Equal => Ok(()),
            Ordering::Greater => {
                let hint = match written_by {
                    Some(version) => {
                        format!("`cargo gpubench` {version} wrote the file; use that version or a later one")
                    }
                    None => "a later version of `cargo gpubench` wrote the file; use that version".to_owned(),
                };
                let how = format!("has format version {found}, but `cargo gpubench` {tool} reads version {known}");
                Err(StoreError::refused(&path, how, hint))
            }
            Ordering::Less => Err(StoreError::Older {
                path,
                what,
                found,
                known,
                tool,
            }),
        }
    }

    /// Returns the error for an unknown baseline.
    pub(super) fn no_baseline(name: &str, known: &[String]) -> StoreError {
        StoreError::Missing {
            what: format!("baseline `{name}`"),
            hint: baselines_hint(name, known),
        }
    }

    /// Returns the error for a history when there is no folder for histories.
    pub fn no_history_folder() -> StoreError {
        StoreError::no_folder("a history", "choose a folder with `--history-dir`".to_owned())
    }

    /// Returns the error for a file when there is no target directory.
    pub(super) fn no_folder(what: &str, hint: String) -> StoreError {
        StoreError::Missing {
            what: format!("target directory to store {what} in"),
            hint,
        }
    }

    pub(super) fn unreadable(path: &Utf8Path) -> impl Fn(io::Error) -> StoreError {
        move |source| StoreError::Unreadable {
            path: path.to_owned(),
            source,
        }
    }

    pub(super) fn not_written(path: &Utf8Path) -> impl Fn(io::Error) -> StoreError {
        move |source| StoreError::NotWritten {
            path: path.to_owned(),
            source,
        }
    }

    /// Returns the error for a file with unexpected contents.
    pub(super) fn refused(path: &Utf8Path, how: impl Into<String>, hint: impl Into<String>) -> StoreError {
        StoreError::Refused {
            path: path.to_owned(),
            how: how.into(),
            source: None,
            hint: hint.into(),
        }
    }

    /// Returns the error for a file with unexpected JSON.
    pub(super) fn refused_by_json(path: &Utf8Path, how: &'static str) -> impl Fn(serde_json::Error) -> StoreError {
        move |source| StoreError::Refused {
            path: path.to_owned(),
            how: how.to_owned(),
            hint: hint_for(&source),
            source: Some(source),
        }
    }
}

impl Expected for StoreError {
    fn exit_code(&self) -> ExitCode {
        match self {
            StoreError::NotWritten { .. } => ExitCode::OutputFailed,
            _ => ExitCode::Usage,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            StoreError::Missing { hint, .. } | StoreError::Refused { hint, .. } => Some(hint.clone()),
            StoreError::Older { what, .. } => Some(match *what {
                FORMAT_NAME => "values of that version are not comparable; measure again with `--save-baseline`".to_owned(),
                _ => "values of that version are not comparable; remove the file to start a new history, or choose another folder with `--history-dir`".to_owned(),
            }),
            StoreError::Altered { .. } | StoreError::Contradictory { .. } => {
                Some("edited results cannot be trusted; measure all benchmarks again with `--save-baseline`".to_owned())
            }
            StoreError::Lost { .. } => Some("save under another name, or measure all benchmarks".to_owned()),
            StoreError::FailsNow { .. } => Some("to store the failures too, save under another name".to_owned()),
            StoreError::HistoryLine { .. } => Some("remove the line, or remove the file to start a new history".to_owned()),
            StoreError::NotWritten { source, .. } if source.kind() == io::ErrorKind::WouldBlock => {
                Some("wait for that process or, if it hangs, end it; then run again".to_owned())
            }
            StoreError::Leaves { .. } => Some("remove the link, or name the file that is meant".to_owned()),
            StoreError::Unreadable { .. } | StoreError::NotWritten { .. } => None,
        }
    }
}

/// Returns the hint for a file with unexpected JSON: the new name of an old word, if it has one.
fn hint_for(source: &serde_json::Error) -> String {
    let text = source.to_string();
    let is_named = |word: &str| text.contains(&format!("`{word}`"));
    // A field that was renamed is missing under its new name.
    let lacks = |field: &str| text.starts_with(&format!("missing field `{field}`"));
    match RENAMED.iter().find(|(old, new)| is_named(old) || lacks(new)) {
        Some((old, new)) => {
            format!("`{old}` is called `{new}` now: an earlier version wrote the file; measure again, or {LEFT_ALONE}")
        }
        None => LEFT_ALONE.to_owned(),
    }
}

/// The hint for a file with unexpected contents.
pub(super) const LEFT_ALONE: &str = "choose another file, or remove this one";

/// The error for a file of a known format with a missing or wrong field.
pub(super) const MALFORMED: &str = "does not match its format";

/// The error for a file that is not JSON.
pub(super) const NOT_JSON: &str = "is not JSON";

/// The name of the file kind in messages.
pub(super) const FORMAT_NAME: &str = "stored run";

fn baselines_hint(name: &str, known: &[String]) -> String {
    match (known, closest(name, known.iter().map(String::as_str))) {
        _ if name == "html" => {
            "`cargo gpubench --report html` writes a page about a new run, `cargo gpubench report` about a stored one"
                .to_owned()
        }
        ([], _) => format!("no baselines exist yet; create it with `--save-baseline {name}`"),
        ([_], Some(similar)) => format!("did you mean `{similar}`?"),
        (_, Some(similar)) => format!("did you mean `{similar}`? existing baselines: {}", in_backticks(known)),
        (_, None) => format!("existing baselines: {}", in_backticks(known)),
    }
}

/// Describes the `format` field of a file that is not a stored run.
pub(super) fn foreign_format(found: Option<&serde_json::Value>) -> String {
    match found {
        Some(serde_json::Value::String(format)) => format!("its format is `{format:.40}`, not `{FORMAT}`"),
        Some(_) => "its `format` is not a string".to_owned(),
        None => "it has no `format`".to_owned(),
    }
}
