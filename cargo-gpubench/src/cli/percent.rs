//! Percentages on the command line.
#![forbid(unsafe_code)]

use std::str::FromStr;

use thiserror::Error;

/// More than nothing and at most everything, as a fraction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Percent(f64);

impl Percent {
    pub(super) fn fraction(self) -> f64 {
        self.0
    }
}

#[derive(Debug, Error)]
pub(super) enum InvalidPercent {
    #[error("not a number")]
    NotANumber,
    #[error("a percentage is above 0 and at most 100")]
    OutOfRange,
}

impl FromStr for Percent {
    type Err = InvalidPercent;

    fn from_str(text: &str) -> Result<Self, InvalidPercent> {
        let number = text.strip_suffix('%').unwrap_or(text).trim();
        let percent: f64 = number.parse().map_err(|_| InvalidPercent::NotANumber)?;
        if percent > 0.0 && percent <= 100.0 {
            Ok(Self(percent / 100.0))
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
        assert_eq!("0.5%".parse::<Percent>().ok(), Some(Percent(0.005)));
        assert_eq!("100".parse::<Percent>().ok(), Some(Percent(1.0)));
    }

    #[test]
    fn what_is_no_percentage_is_refused() {
        for text in ["", "0", "-1", "101", "NaN", "inf", "one"] {
            assert!(text.parse::<Percent>().is_err(), "{text}");
        }
    }
}
