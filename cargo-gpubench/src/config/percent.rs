//! Percentages.

use std::{fmt, str::FromStr};

use thiserror::Error;

/// More than nothing and at most everything, in percent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Percent(f64);

/// It is always a number.
impl Eq for Percent {}

impl Percent {
    /// The part of one.
    pub fn fraction(self) -> f64 {
        self.0 / 100.0
    }

    /// So many hundredths, from 1 to 100.
    pub const fn whole(percent: u8) -> Self {
        assert!(percent > 0 && percent <= 100);
        Self(percent as f64)
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", self.0)
    }
}

/// A text that is no percentage.
#[derive(Debug, Error)]
pub enum InvalidPercent {
    /// Not a number.
    #[error("not a number")]
    NotANumber,
    /// Not above 0, or above 100.
    #[error("a percentage is above 0 and at most 100")]
    OutOfRange,
}

impl FromStr for Percent {
    type Err = InvalidPercent;

    fn from_str(text: &str) -> Result<Self, InvalidPercent> {
        let number = text.strip_suffix('%').unwrap_or(text).trim();
        let percent: f64 = number.parse().map_err(|_| InvalidPercent::NotANumber)?;
        if percent > 0.0 && percent <= 100.0 {
            Ok(Self(percent))
        } else {
            Err(InvalidPercent::OutOfRange)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percent_sign_may_be_written() {
        assert_eq!("0.5%".parse::<Percent>().ok(), Some(Percent(0.5)));
        assert_eq!("100".parse::<Percent>().ok(), Some(Percent(100.0)));
    }

    #[test]
    fn what_is_no_percentage_is_refused() {
        for text in ["", "0", "-1", "101", "NaN", "inf", "one"] {
            assert!(text.parse::<Percent>().is_err(), "{text}");
        }
    }
}
