//! Additional criteria for a case with correct outputs.

use std::fmt;
use std::str::FromStr;

use clap::ValueEnum;
use thiserror::Error;

use super::Value;
use gpubench_contract::Grade;
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
    Advisory,
    /// Times that the referee's clock confirmed
    Bracketed,
    /// Times that no user host code could influence
    Sealed,
}

/// A text that is not a possible value.
#[derive(Debug, Error)]
#[error("possible values: {0}")]
pub struct UnknownWord(String);

/// Reads and shows values by the names that clap has for them.
macro_rules! by_value_name {
    ($($value:ty),*) => {$(
        impl Value for $value {}

        impl FromStr for $value {
            type Err = UnknownWord;

            fn from_str(text: &str) -> Result<Self, UnknownWord> {
                <Self as ValueEnum>::from_str(text, false).map_err(|_| {
                    let names = Self::value_variants().iter().filter_map(ValueEnum::to_possible_value);
                    let names: Vec<_> = names.map(|value| format!("`{}`", value.get_name())).collect();
                    UnknownWord(names.join(", "))
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
            LeastGrade::Advisory => Grade::Advisory,
            LeastGrade::Bracketed => Grade::Bracketed,
            LeastGrade::Sealed => Grade::Sealed,
        }
    }
}
