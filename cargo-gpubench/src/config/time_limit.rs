//! Time limits.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use thiserror::Error;

/// A time limit above zero, of at most a week.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeLimit(Duration);

impl TimeLimit {
    /// The longest limit. A longer one is a wrong unit, and sums of limits must not overflow.
    const LONGEST: Duration = Duration::from_secs(7 * 24 * 60 * 60);

    /// Returns the time.
    pub fn duration(self) -> Duration {
        self.0
    }

    /// Creates a limit in seconds.
    ///
    /// # Panics
    /// The number is 0, or more than a week.
    pub const fn seconds(seconds: u64) -> Self {
        assert!(seconds > 0 && seconds <= Self::LONGEST.as_secs());
        Self(Duration::from_secs(seconds))
    }
}

impl fmt::Display for TimeLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        humantime::format_duration(self.0).fmt(f)
    }
}

/// An invalid time limit.
#[derive(Debug, Error)]
pub enum InvalidTimeLimit {
    /// Not a number with a unit.
    #[error("must be a number with a unit: `10s`, `500ms`, `2min`")]
    Form,
    /// Zero.
    #[error("must be longer than zero")]
    Zero,
    /// Longer than a week.
    #[error("must be at most 7 days")]
    TooLong,
}

impl FromStr for TimeLimit {
    type Err = InvalidTimeLimit;

    fn from_str(text: &str) -> Result<Self, InvalidTimeLimit> {
        match humantime::parse_duration(text) {
            Ok(Duration::ZERO) => Err(InvalidTimeLimit::Zero),
            Ok(duration) if duration > Self::LONGEST => Err(InvalidTimeLimit::TooLong),
            Ok(duration) => Ok(Self(duration)),
            Err(_) => Err(InvalidTimeLimit::Form),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_parsed() {
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
    fn a_displayed_limit_can_be_parsed() {
        for text in ["1m 30s", "250us", "2days"] {
            let limit: TimeLimit = text.parse().expect("a limit");
            assert_eq!(limit.to_string().parse::<TimeLimit>().ok(), Some(limit));
        }
    }

    #[test]
    fn an_invalid_limit_is_refused() {
        for text in ["", "10", "0s", "-1s", "soon", "8days", "600years"] {
            assert!(text.parse::<TimeLimit>().is_err(), "{text}");
        }
    }
}
