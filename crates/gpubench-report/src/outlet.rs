//! Where a report is written to.

use camino::{Utf8Path, Utf8PathBuf};

use super::{Output, OutputError, ensure_replaceable, replace_file};

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

    /// Writes a whole report there, as [`replace_file`] does.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, text: &str) -> Result<(), OutputError> {
        match self {
            Outlet::StandardOutput => Output::stdout().print(text),
            Outlet::File(path) => replace_file(path, text),
        }
    }

    /// Looks whether a whole report could be written there, before there is anything to lose.
    ///
    /// # Errors
    /// When it could not.
    pub fn ensure_writable(&self) -> Result<(), OutputError> {
        match self {
            Outlet::StandardOutput => Ok(()),
            Outlet::File(path) => ensure_replaceable(path),
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
