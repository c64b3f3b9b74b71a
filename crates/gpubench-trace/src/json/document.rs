//! Reading a document, or a file with one on each line.

use serde::de::DeserializeOwned;

use gpubench_diagnostic::{ExitCode, Expected, printable_line};

use super::fault::Checked;
use super::place::{line_of, path_at};

/// Most bytes of a document, and of a line of a file with a document on each.
pub const MOST_DOCUMENT_BYTES: usize = 16 << 20;

/// Most bytes of a file with a document on each line.
pub const MOST_FILE_BYTES: usize = 256 << 20;

/// What is wrong with a document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}{}: {what}", below(.path))]
pub struct WrongDocument {
    /// Line of the file, counted from 1.
    pub line: usize,
    /// The way to the value: `inputs.A.shape[1]`. Empty for the whole document.
    pub path: String,
    /// What is wrong.
    pub what: String,
}

impl Expected for WrongDocument {
    fn exit_code(&self) -> ExitCode {
        ExitCode::Usage
    }
}

fn below(path: &str) -> String {
    match path {
        "" => String::new(),
        path => format!(", `{path}`"),
    }
}

/// Reads one document.
///
/// # Errors
/// It is too long, no JSON, or breaks a rule of the format.
pub(crate) fn read_one<T: DeserializeOwned + Checked>(text: &str) -> Result<T, WrongDocument> {
    read(text, 1)
}

/// Reads a document from each line that is not blank.
///
/// # Errors
/// The file is too long, or a line is no such document.
pub(crate) fn read_lines<T>(
    text: &str,
    read: impl Fn(&str, usize) -> Result<T, WrongDocument>,
) -> Result<Vec<T>, WrongDocument> {
    if text.len() > MOST_FILE_BYTES {
        return Err(too_long(1, text.len(), MOST_FILE_BYTES));
    }
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines.map(|(before, line)| read(line, before + 1)).collect()
}

/// Reads a document that begins on a line of a file.
pub(crate) fn read<T: DeserializeOwned + Checked>(text: &str, first: usize) -> Result<T, WrongDocument> {
    if text.len() > MOST_DOCUMENT_BYTES {
        return Err(too_long(first, text.len(), MOST_DOCUMENT_BYTES));
    }
    let document: T = serde_json::from_str(text).map_err(|error| {
        // The message ends with the place, which has fields of its own.
        let whole = error.to_string();
        let place = format!(" at line {} column {}", error.line(), error.column());
        WrongDocument {
            line: first + error.line().saturating_sub(1),
            path: path_at(text, error.line(), error.column()).to_string(),
            what: printable_line(whole.strip_suffix(&place).unwrap_or(&whole)),
        }
    })?;
    document.check().map_err(|fault| WrongDocument {
        line: first + line_of(text, fault.path()) - 1,
        path: fault.path().to_string(),
        what: fault.what().to_owned(),
    })?;
    Ok(document)
}

fn too_long(line: usize, bytes: usize, most: usize) -> WrongDocument {
    WrongDocument {
        line,
        path: String::new(),
        what: format!("it has {bytes} bytes; the limit is {most}"),
    }
}
