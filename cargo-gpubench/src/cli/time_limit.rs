//! Time limits on the command line.
#![forbid(unsafe_code)]

use std::{str::FromStr, time::Duration};

use thiserror::Error;

/// A time longer than nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TimeLimit(Duration);

impl TimeLimit {
    pub(super) fn duration(self) -> Duration {
        self.0
    }
}

#[derive(Debug, Error)]
pub(super) enum InvalidTimeLimit {
    #[error("a time limit is a number with a unit: `10s`, `500ms`, `2min`")]
    Form,
    #[error("a time limit is longer than nothing")]
    Zero,
}

impl FromStr for TimeLimit {
    type Err = InvalidTimeLimit;

    fn from_str(text: &str) -> Result<Self, InvalidTimeLimit> {
        match humantime::parse_duration(text) {
            Ok(Duration::ZERO) => Err(InvalidTimeLimit::Zero),
            Ok(duration) => Ok(Self(duration)),
            Err(_) => Err(InvalidTimeLimit::Form),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_understood() {
        assert_eq!(
            "1m 30s".parse::<TimeLimit>().ok(),
            Some(TimeLimit(Duration::from_secs(90)))
        );
        assert_eq!(
            "250us".parse::<TimeLimit>().ok(),
            Some(TimeLimit(Duration::from_micros(250)))
        );
    }

    #[test]
    fn what_is_no_limit_is_refused() {
        for text in ["", "10", "0s", "-1s", "soon"] {
            assert!(text.parse::<TimeLimit>().is_err(), "{text}");
        }
    }
}
