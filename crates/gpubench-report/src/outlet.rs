//! Where a report is written to.

use camino::{Utf8Path, Utf8PathBuf};

use gpubench_store::Replacement;

use super::output::not_written;
use super::{Output, OutputError};

/// Where a report is written to, as an option names it: `-` is standard output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outlet {
    /// Standard output, which then has nothing else.
    StandardOutput,
    /// A file.
    File(Utf8PathBuf),
}

impl Outlet {
    /// What names standard output.
    pub const STANDARD_OUTPUT: &str = "-";

    /// The file, if it is one.
    pub fn file(&self) -> Option<&Utf8Path> {
        match self {
            Outlet::StandardOutput => None,
            Outlet::File(path) => Some(path),
        }
    }

    /// Begins a report there; a file that exists is replaced.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn open(&self) -> Result<Output, OutputError> {
        match self {
            Outlet::StandardOutput => Ok(Output::stdout()),
            Outlet::File(path) => Output::file(path),
        }
    }

    /// Writes a whole report there: whoever reads a file meanwhile, or after a crash, has the old
    /// text or the new one. Folders that are missing are made.
    ///
    /// # Errors
    /// It cannot be written; an old file is then as it was.
    pub fn write(&self, text: &str) -> Result<(), OutputError> {
        match self {
            Outlet::StandardOutput => Output::stdout().print(text),
            Outlet::File(path) => Replacement::of(path)
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
            Outlet::StandardOutput => Ok(()),
            Outlet::File(path) => Replacement::of(path)
                .and_then(Replacement::abandon)
                .map_err(not_written(path)),
        }
    }
}

impl From<&str> for Outlet {
    fn from(text: &str) -> Outlet {
        match text {
            Outlet::STANDARD_OUTPUT => Outlet::StandardOutput,
            path => Outlet::File(path.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dash_is_standard_output_and_everything_else_a_file() {
        assert_eq!(Outlet::from("-"), Outlet::StandardOutput);
        for file in ["./-", "--", "-.json", "run.json"] {
            assert_eq!(Outlet::from(file).file(), Some(Utf8Path::new(file)));
        }
    }
}
