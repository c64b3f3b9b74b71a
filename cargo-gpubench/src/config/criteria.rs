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

fn read<T: ValueEnum>(text: &str) -> Result<T, UnknownWord> {
    T::from_str(text, false).map_err(|_| {
        let names = T::value_variants().iter().filter_map(ValueEnum::to_possible_value);
        let names: Vec<_> = names.map(|value| format!("`{}`", value.get_name())).collect();
        UnknownWord(names.join(", "))
    })
}

fn show(value: &impl ValueEnum, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match value.to_possible_value() {
        Some(value) => f.write_str(value.get_name()),
        None => Ok(()),
    }
}

impl Value for Denied {}

impl FromStr for Denied {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        read(text)
    }
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(self, f)
    }
}

impl From<Denied> for NoticePolicy {
    fn from(denied: Denied) -> NoticePolicy {
        match denied {
            Denied::Nothing => NoticePolicy::Tell,
            Denied::Notices => NoticePolicy::Deny,
        }
    }
}

impl Value for LeastGrade {}

impl FromStr for LeastGrade {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        read(text)
    }
}

impl fmt::Display for LeastGrade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(self, f)
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
