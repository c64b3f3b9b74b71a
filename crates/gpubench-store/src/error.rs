//! Why a stored run or a history cannot be read or written.

use std::cmp::Ordering;
use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use thiserror::Error;

use super::{Contradiction, FORMAT, NotAlike};
use gpubench_contract::units::counted;
use gpubench_diagnostic::{ExitCode, Expected, closest, in_backticks};

/// Why a stored run or a history cannot be read or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// What is named is not there, or there is nowhere to keep it.
    #[error("there is no {what}")]
    Missing {
        /// What.
        what: String,
        /// What a person can do about it.
        hint: String,
    },
    /// A file is there and cannot be read.
    #[error("could not read `{path}`")]
    Unreadable {
        /// The file.
        path: Utf8PathBuf,
        /// What the operating system says.
        #[source]
        source: io::Error,
    },
    /// A file is not what it should be: empty, cut off, no JSON, of another format or of a later
    /// tool.
    #[error("`{path}` {how}")]
    Refused {
        /// The file.
        path: Utf8PathBuf,
        /// What it is instead, to stand behind its name.
        how: String,
        /// Where it goes wrong, if that is known.
        source: Option<serde_json::Error>,
        /// What a person can do about it.
        hint: String,
    },
    /// An earlier tool wrote a file, with other figures in it.
    #[error("`{path}` is a {what} of format version {found}, and this tool, {tool}, knows {known}")]
    Older {
        /// The file.
        path: Utf8PathBuf,
        /// What it is.
        what: &'static str,
        /// The file's version.
        found: u64,
        /// The version that this tool knows.
        known: u64,
        /// This tool's version.
        tool: &'static str,
    },
    /// A file's contents are not those that were written.
    #[error("`{path}` was changed after it was written: its digest is not that of its contents")]
    Altered {
        /// The file.
        path: Utf8PathBuf,
    },
    /// A file says what cannot be.
    #[error("`{path}` contradicts itself")]
    Contradictory {
        /// The file.
        path: Utf8PathBuf,
        /// How.
        #[source]
        source: Contradiction,
    },
    /// Results that would stay in a file were measured otherwise than those that are to be saved to
    /// it.
    #[error("`{path}` keeps {} that this run does not have, and they were not measured alike", counted(source.kept, "result"))]
    NotAlike {
        /// The file.
        path: Utf8PathBuf,
        /// What was not alike.
        #[source]
        source: NotAlike,
    },
    /// A line of a history cannot be read.
    #[error("line {line} of the history `{path}` is damaged")]
    HistoryLine {
        /// The file.
        path: Utf8PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        #[source]
        source: serde_json::Error,
    },
    /// A file cannot be written. One that was there is still there.
    #[error("could not write `{path}`")]
    NotWritten {
        /// The file.
        path: Utf8PathBuf,
        /// What the operating system says.
        #[source]
        source: io::Error,
    },
}

impl StoreError {
    /// Refuses a file of another format version than the one that this tool knows.
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
                    Some(version) => format!("`cargo gpubench` {version} wrote it; use that version or a later one"),
                    None => "a later `cargo gpubench` wrote it; use that one".to_owned(),
                };
                let how = format!("has format version {found}, and this tool, {tool}, knows {known}");
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

    /// A baseline that is not among those that are known.
    pub(super) fn no_baseline(name: &str, known: &[String]) -> StoreError {
        StoreError::Missing {
            what: format!("baseline `{name}`"),
            hint: baselines_hint(name, known),
        }
    }

    /// A history is to be read or kept where there is nowhere to keep one.
    pub fn homeless_history() -> StoreError {
        StoreError::homeless("a history", "`--history-dir` names a folder".to_owned())
    }

    /// Something is to be kept where there is nowhere to keep it.
    pub(super) fn homeless(what: &str, hint: String) -> StoreError {
        StoreError::Missing {
            what: format!("target directory in which {what} could be"),
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

    /// A file that is refused for what it holds, with what can be done about it.
    pub(super) fn refused(path: &Utf8Path, how: impl Into<String>, hint: impl Into<String>) -> StoreError {
        StoreError::Refused {
            path: path.to_owned(),
            how: how.into(),
            source: None,
            hint: hint.into(),
        }
    }

    /// One that is refused for its JSON, and left alone.
    pub(super) fn refused_by_json(path: &Utf8Path, how: &'static str) -> impl Fn(serde_json::Error) -> StoreError {
        move |source| StoreError::Refused {
            path: path.to_owned(),
            how: how.to_owned(),
            source: Some(source),
            hint: LEFT_ALONE.to_owned(),
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
                FORMAT_NAME => "its figures mean something else than today's; record it again, as with `--save-baseline`".to_owned(),
                _ => "its figures mean something else than today's; remove it to record again, or name another folder with `--history-dir`".to_owned(),
            }),
            StoreError::Altered { .. } | StoreError::Contradictory { .. } => {
                Some("figures that were not measured prove nothing; measure all of it again with `--save-baseline`".to_owned())
            }
            StoreError::NotAlike { .. } => Some(
                "times of different devices do not belong together; save under another name, or remove the file and measure every benchmark".to_owned(),
            ),
            StoreError::HistoryLine { .. } => Some("remove the line, or the file to begin anew".to_owned()),
            StoreError::NotWritten { source, .. } if source.kind() == io::ErrorKind::WouldBlock => {
                Some("end that process if it is none of yours that is still writing, and run again".to_owned())
            }
            StoreError::Unreadable { .. } | StoreError::NotWritten { .. } => None,
        }
    }
}

/// What can be done about a file that is refused.
pub(super) const LEFT_ALONE: &str = "it is left as it is; name another, or remove it";

/// Said of a file of a known format that lacks something, or has something else in its place.
pub(super) const MALFORMED: &str = "is not as its format demands";

/// Said of a file in which something is no JSON.
pub(super) const NOT_JSON: &str = "is not JSON";

/// What a stored run is called in messages.
pub(super) const FORMAT_NAME: &str = "stored run";

fn baselines_hint(name: &str, known: &[String]) -> String {
    match (known, closest(name, known.iter().map(String::as_str))) {
        _ if name == "html" => {
            "`cargo gpubench --report html` makes a page of a run; `report` one of a stored run".to_owned()
        }
        ([], _) => format!("there is none at all yet; `--save-baseline {name}` makes it"),
        ([_], Some(similar)) => format!("did you mean `{similar}`?"),
        (_, Some(similar)) => format!("`{similar}` is similar; there are {}", in_backticks(known)),
        ([_], None) => format!("there is {}", in_backticks(known)),
        (_, None) => format!("there are {}", in_backticks(known)),
    }
}

/// What a file is, by what it says of itself.
pub(super) fn foreign_format(found: Option<&serde_json::Value>) -> String {
    match found {
        Some(serde_json::Value::String(format)) => format!("its format is `{format:.40}`, not `{FORMAT}`"),
        Some(_) => "its format is no text".to_owned(),
        None => "it does not say which format it has".to_owned(),
    }
}
