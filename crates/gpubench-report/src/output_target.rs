//! The target of a report.

use camino::{Utf8Path, Utf8PathBuf};

use gpubench_diagnostic::CommandMarks;
use gpubench_store::Replacement;

use super::output::not_written;
use super::{Output, OutputError};

/// The target of a report, as given to an option. `-` is standard output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutputTarget {
    /// Standard output. Nothing else is written to it.
    StandardOutput,
    /// A file.
    File(Utf8PathBuf),
}

impl OutputTarget {
    /// The name of standard output.
    pub const STANDARD_OUTPUT: &str = "-";

    /// Returns the file's path, if it is a file.
    pub fn file(&self) -> Option<&Utf8Path> {
        match self {
            OutputTarget::StandardOutput => None,
            OutputTarget::File(path) => Some(path),
        }
    }

    /// Opens the target for writing. Replaces an existing file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be created.
    pub fn open(&self) -> Result<Output, OutputError> {
        match self {
            OutputTarget::StandardOutput => Ok(Output::stdout()),
            OutputTarget::File(path) => Output::file(path),
        }
    }

    /// Writes a whole report atomically: a reader, or a crash, sees either the old or the new text.
    /// Creates missing folders.
    ///
    /// # Errors
    /// Returns an error if the report cannot be written. An existing file is then unchanged.
    pub fn write(&self, text: &str) -> Result<(), OutputError> {
        match self {
            OutputTarget::StandardOutput => Output::stdout().print(text),
            OutputTarget::File(path) => Replacement::new(path)
                .and_then(|replacement| replacement.commit(CommandMarks::default().mark(text).as_bytes()))
                .map_err(not_written(path)),
        }
    }

    /// Checks early that a whole report can be written, before there are results to lose.
    ///
    /// # Errors
    /// Returns an error if it cannot.
    pub fn ensure_writable(&self) -> Result<(), OutputError> {
        match self {
            OutputTarget::StandardOutput => Ok(()),
            OutputTarget::File(path) => Replacement::new(path)
                .and_then(Replacement::abandon)
                .map_err(not_written(path)),
        }
    }
}

impl From<&str> for OutputTarget {
    fn from(text: &str) -> OutputTarget {
        match text {
            OutputTarget::STANDARD_OUTPUT => OutputTarget::StandardOutput,
            path => OutputTarget::File(path.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dash_is_standard_output_and_everything_else_a_file() {
        assert_eq!(OutputTarget::from("-"), OutputTarget::StandardOutput);
        for file in ["./-", "--", "-.json", "run.json"] {
            assert_eq!(OutputTarget::from(file).file(), Some(Utf8Path::new(file)));
        }
    }
}
