//! Where a report is written to.

use camino::{Utf8Path, Utf8PathBuf};

use gpubench_store::Replacement;

use super::output::not_written;
use super::{Output, OutputError};

/// Where a report is written to, as an option names it: `-` is standard output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutputTarget {
    /// Standard output, which then has nothing else.
    StandardOutput,
    /// A file.
    File(Utf8PathBuf),
}

impl OutputTarget {
    /// What names standard output.
    pub const STANDARD_OUTPUT: &str = "-";

    /// The file, if it is one.
    pub fn file(&self) -> Option<&Utf8Path> {
        match self {
            OutputTarget::StandardOutput => None,
            OutputTarget::File(path) => Some(path),
        }
    }

    /// Begins a report there; a file that exists is replaced.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn open(&self) -> Result<Output, OutputError> {
        match self {
            OutputTarget::StandardOutput => Ok(Output::stdout()),
            OutputTarget::File(path) => Output::file(path),
        }
    }

    /// Writes a whole report there: whoever reads a file meanwhile, or after a crash, has the old
    /// text or the new one. Folders that are missing are made.
    ///
    /// # Errors
    /// It cannot be written; an old file is then as it was.
    pub fn write(&self, text: &str) -> Result<(), OutputError> {
        match self {
            OutputTarget::StandardOutput => Output::stdout().print(text),
            OutputTarget::File(path) => Replacement::of(path)
                .and_then(|replacement| replacement.commit(text.as_bytes()))
                .map_err(not_written(path)),
        }
    }

    /// Looks whether a whole report could be written there, before there is anything to lose.
    ///
    /// # Errors
    /// When it could not.
    pub fn ensure_writable(&self) -> Result<(), OutputError> {
        match self {
            OutputTarget::StandardOutput => Ok(()),
            OutputTarget::File(path) => Replacement::of(path)
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
