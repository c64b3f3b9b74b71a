//! Positions in configuration files.

use std::fmt;
use std::sync::Arc;

use camino::Utf8Path;

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigLine {
    file: Arc<Utf8Path>,
    line: usize,
}

#[cfg(test)]
impl ConfigLine {
    /// Creates a line of a file, which need not exist.
    pub(crate) fn at(file: &str, line: usize) -> Self {
        Self {
            file: Utf8Path::new(file).into(),
            line,
        }
    }
}

impl fmt::Display for ConfigLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// The text of a file, for finding lines.
#[derive(Clone, Debug)]
pub(super) struct Text<'a> {
    file: Arc<Utf8Path>,
    text: &'a str,
}

impl<'a> Text<'a> {
    pub(super) fn new(file: &Utf8Path, text: &'a str) -> Self {
        Self {
            file: file.into(),
            text,
        }
    }

    /// Returns the line of a byte.
    pub(super) fn place(&self, offset: usize) -> ConfigLine {
        let before = &self.text.as_bytes()[..offset.min(self.text.len())];
        ConfigLine {
            file: self.file.clone(),
            line: 1 + before.iter().filter(|byte| **byte == b'\n').count(),
        }
    }
}
