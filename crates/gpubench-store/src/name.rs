//! Names of stored runs: a baseline's, or a file's.

use std::fmt;
use std::str::FromStr;

use camino::{Utf8Path, Utf8PathBuf};
use thiserror::Error;

/// What the tool's own files of stored runs end in.
pub(super) const EXTENSION: &str = "json";

/// Longer names do not fit a folder's entry with what is added to them.
const LONGEST: usize = 200;

/// How a person names a stored run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunName {
    /// A name under which the tool keeps it.
    Baseline(BaselineName),
    /// A file: the name has a path separator or ends in `.json` or `.jsonl`.
    File(Utf8PathBuf),
}

/// A baseline's name: letters, digits and `-_.`, not beginning with a dot. `-` alone is none:
/// elsewhere it is standard output, which no run is kept in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BaselineName(String);

/// A text that names neither a baseline nor a file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` is not a name: letters, digits and `-_.` make one, or a path makes a file")]
pub struct NotABaselineName(String);

impl BaselineName {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for BaselineName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for BaselineName {
    type Err = NotABaselineName;

    fn from_str(text: &str) -> Result<BaselineName, NotABaselineName> {
        let admitted = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let is_taken = matches!(text, "" | "-") || text.starts_with('.');
        let is_name = !is_taken && text.len() <= LONGEST && text.chars().all(admitted);
        if is_name {
            Ok(BaselineName(text.to_owned()))
        } else {
            Err(NotABaselineName(text.to_owned()))
        }
    }
}

impl FromStr for RunName {
    type Err = NotABaselineName;

    fn from_str(text: &str) -> Result<RunName, NotABaselineName> {
        let path = Utf8Path::new(text);
        let is_path = text.contains('/') || matches!(path.extension(), Some(EXTENSION | "jsonl"));
        if is_path {
            Ok(RunName::File(path.to_owned()))
        } else {
            text.parse().map(RunName::Baseline)
        }
    }
}

impl fmt::Display for RunName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunName::Baseline(name) => name.fmt(f),
            RunName::File(path) => path.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_digits_and_three_signs_name_a_baseline() {
        for text in ["main", "v1.2.3", "feature-x_2", "7", "a.txt"] {
            assert_eq!(
                text.parse(),
                Ok(RunName::Baseline(BaselineName(text.to_owned()))),
                "{text}"
            );
        }
    }

    #[test]
    fn a_separator_or_the_extension_names_a_file() {
        for text in ["./main", "a/b", "/tmp/x", "main.json", "run.jsonl", "../x"] {
            assert_eq!(text.parse(), Ok(RunName::File(text.into())), "{text}");
        }
    }

    #[test]
    fn what_is_standard_output_elsewhere_is_no_name_of_a_run() {
        assert!("-".parse::<RunName>().is_err());
        assert!("-a".parse::<RunName>().is_ok());
        assert_eq!("./-".parse(), Ok(RunName::File("./-".into())));
    }

    #[test]
    fn what_could_leave_the_folder_or_hide_in_it_is_no_name() {
        for text in ["", ".", "..", ".hidden", "a b", "naïve", "a\nb", "a\\b", "*"] {
            assert_eq!(
                text.parse::<RunName>(),
                Err(NotABaselineName(text.to_owned())),
                "{text}"
            );
        }
        assert!("a".repeat(201).parse::<RunName>().is_err());
    }
}
