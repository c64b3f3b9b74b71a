//! Time budgets.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use thiserror::Error;

use super::{InvalidTimeLimit, TimeLimit, Value};

/// A time on the device, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeBudget {
    /// There is none.
    None,
    /// This time.
    Of(TimeLimit),
}

impl TimeBudget {
    /// The word for no budget.
    const NONE: &str = "none";

    /// Returns the time.
    pub fn duration(self) -> Option<Duration> {
        match self {
            Self::None => None,
            Self::Of(limit) => Some(limit.duration()),
        }
    }
}

impl Value for TimeBudget {}

impl fmt::Display for TimeBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str(Self::NONE),
            Self::Of(limit) => limit.fmt(f),
        }
    }
}

/// An invalid time budget.
#[derive(Debug, Error)]
#[error("{0}, or `none`")]
pub struct InvalidTimeBudget(InvalidTimeLimit);

impl FromStr for TimeBudget {
    type Err = InvalidTimeBudget;

    fn from_str(text: &str) -> Result<Self, InvalidTimeBudget> {
        match text {
            Self::NONE => Ok(Self::None),
            time => time.parse().map(Self::Of).map_err(InvalidTimeBudget),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_displayed_budget_can_be_parsed() {
        for text in ["none", "25ms", "1m 30s"] {
            let budget: TimeBudget = text.parse().expect("a budget");
            assert_eq!(budget.to_string(), text);
        }
    }

    #[test]
    fn an_invalid_budget_has_its_own_reason() {
        let reason = |text: &str| text.parse::<TimeBudget>().expect_err("a refusal").to_string();
        for form in ["25", "-25ms", "2%", "soon", ""] {
            assert_eq!(
                reason(form),
                "must be a number with a unit: `10s`, `500ms`, `2min`, or `none`",
                "{form}"
            );
        }
        assert_eq!(reason("0ms"), "must be longer than zero, or `none`");
        assert_eq!(reason("8days"), "must be at most 7 days, or `none`");
    }
}
