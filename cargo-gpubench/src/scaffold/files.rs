//! Writing files that nobody has written before.

use std::io::{ErrorKind, Write as _};

use camino::Utf8Path;

use super::ScaffoldError;

/// Writes a new file, with its folder.
///
/// # Errors
/// The file exists, or cannot be written.
pub(super) fn write_new(path: &Utf8Path, text: &str) -> Result<(), ScaffoldError> {
    let unwritable = |source| ScaffoldError::Unwritable {
        path: path.to_owned(),
        source,
    };
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(unwritable)?;
    }
    let file = std::fs::OpenOptions::new().write(true).create_new(true).open(path);
    let mut file = file.map_err(|source| match source.kind() {
        ErrorKind::AlreadyExists => ScaffoldError::Exists { path: path.to_owned() },
        _ => unwritable(source),
    })?;
    file.write_all(text.as_bytes()).map_err(unwritable)
}

/// Replaces a file's text.
///
/// # Errors
/// The file cannot be written.
pub(super) fn replace(path: &Utf8Path, text: &str) -> Result<(), ScaffoldError> {
    std::fs::write(path, text).map_err(|source| ScaffoldError::Unwritable {
        path: path.to_owned(),
        source,
    })
}

/// Reads a text.
///
/// # Errors
/// The file cannot be read, or is not UTF-8.
pub(super) fn read(path: &Utf8Path) -> Result<String, ScaffoldError> {
    std::fs::read_to_string(path).map_err(|source| ScaffoldError::Unreadable {
        path: path.to_owned(),
        source,
    })
}
