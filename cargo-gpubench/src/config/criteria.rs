//! Additional criteria for a case with correct outputs.

use std::fmt;
use std::str::FromStr;

use clap::ValueEnum;
use thiserror::Error;

use super::Value;
use gpubench_contract::{Grade, renamed};
use gpubench_measure::measurement::NoticePolicy;

/// What makes a passing case fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Denied {
    /// Nothing
    Nothing,
    /// A notice about the check
    Notices,
}

/// The lowest accepted grade.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LeastGrade {
    /// Any grade
    Unverified,
    /// Times that the referee's clock confirmed
    Sandboxed,
    /// Times that no user host code could influence
    Sealed,
}

/// A text that is not a possible value.
#[derive(Debug, Error)]
pub enum UnknownWord {
    /// It has another name now.
    #[error("it is called `{0}` now")]
    Renamed(&'static str),
    /// It never was one.
    #[error("possible values: {0}")]
    Unknown(String),
}

/// Reads and shows values by the names that clap has for them.
macro_rules! by_value_name {
    ($($value:ty),*) => {$(
        impl Value for $value {}

        impl FromStr for $value {
            type Err = UnknownWord;

            fn from_str(text: &str) -> Result<Self, UnknownWord> {
                <Self as ValueEnum>::from_str(text, false).map_err(|_| {
                    if let Some(new) = renamed(text) {
                        return UnknownWord::Renamed(new);
                    }
                    let names = Self::value_variants().iter().filter_map(ValueEnum::to_possible_value);
                    let names: Vec<_> = names.map(|value| format!("`{}`", value.get_name())).collect();
                    UnknownWord::Unknown(names.join(", "))
                })
            }
        }

        impl fmt::Display for $value {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.to_possible_value().map_or(Ok(()), |value| f.write_str(value.get_name()))
            }
        }
    )*};
}

by_value_name!(Denied, LeastGrade);

impl From<Denied> for NoticePolicy {
    fn from(denied: Denied) -> NoticePolicy {
        match denied {
            Denied::Nothing => NoticePolicy::Report,
            Denied::Notices => NoticePolicy::Deny,
        }
    }
}

impl From<LeastGrade> for Grade {
    fn from(least: LeastGrade) -> Grade {
        match least {
            LeastGrade::Unverified => Grade::Unverified,
            LeastGrade::Sandboxed => Grade::Sandboxed,
            LeastGrade::Sealed => Grade::Sealed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grade_that_was_renamed_is_refused_with_its_new_name() {
        let refused = |text: &str| text.parse::<LeastGrade>().expect_err("no grade").to_string();
        assert_eq!(refused("advisory"), "it is called `unverified` now");
        assert_eq!(refused("bracketed"), "it is called `sandboxed` now");
        assert_eq!(refused("gold"), "possible values: `unverified`, `sandboxed`, `sealed`");
    }
}
