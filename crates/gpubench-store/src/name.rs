//! Names of stored runs.

use std::fmt;
use std::str::FromStr;

use camino::{Utf8Path, Utf8PathBuf};
use thiserror::Error;

/// The extension of the files of stored runs.
pub(super) const EXTENSION: &str = "json";

/// Maximum length of a name. With the added parts, it must fit the file system's limit.
const LONGEST: usize = 200;

/// The name that a user gives a stored run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunName {
    /// A baseline.
    Baseline(BaselineName),
    /// A file. The name has a path separator or ends in `.json` or `.jsonl`.
    File(Utf8PathBuf),
}

/// A baseline's name: letters, digits and `-_.`, without a leading dot. `-` alone is not a name,
/// because other options use it for standard output.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BaselineName(String);

/// The error for a string that is neither a baseline's name nor a path.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` is not a valid name: use letters, digits and `-_.` for a baseline, or a path for a file")]
pub struct NotABaselineName(String);

impl BaselineName {
    /// Returns the name.
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
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let is_reserved = matches!(text, "" | "-") || text.starts_with('.');
        let is_name = !is_reserved && text.len() <= LONGEST && text.chars().all(is_allowed);
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
    fn a_baseline_name_has_letters_digits_and_three_signs() {
        for text in ["main", "v1.2.3", "feature-x_2", "7", "a.txt"] {
            assert_eq!(
                text.parse(),
                Ok(RunName::Baseline(BaselineName(text.to_owned()))),
                "{text}"
            );
        }
    }

    #[test]
    fn a_name_with_a_separator_or_the_extension_is_a_file() {
        for text in ["./main", "a/b", "/tmp/x", "main.json", "run.jsonl", "../x"] {
            assert_eq!(text.parse(), Ok(RunName::File(text.into())), "{text}");
        }
    }

    #[test]
    fn a_dash_is_not_the_name_of_a_run() {
        assert!("-".parse::<RunName>().is_err());
        assert!("-a".parse::<RunName>().is_ok());
        assert_eq!("./-".parse(), Ok(RunName::File("./-".into())));
    }

    #[test]
    fn a_name_cannot_leave_the_folder_or_be_hidden() {
        for text in ["", ".", "..", ".hidden", "a b", "naïve", "a\nb", "a\\b", "*"] {
            assert_eq!(
                text.parse::<RunName>(),
                Err(NotABaselineName(text.to_owned())),
                "{text}"
            );
        }
        assert!("a".repeat(201).parse::<RunName>().is_err());
    }

    #[test]
    fn a_name_has_at_most_two_hundred_letters_and_is_shown_as_it_is_written() {
        assert!("a".repeat(200).parse::<RunName>().is_ok());
        for text in ["main", "./main", "a/b.json"] {
            assert_eq!(
                text.parse::<RunName>().map(|name| name.to_string()).as_deref(),
                Ok(text)
            );
        }
    }
}
