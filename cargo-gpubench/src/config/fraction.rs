//! Fractions, as percentages or as criterion writes them.

use std::{fmt, str::FromStr};

use thiserror::Error;

/// More than nothing and less than everything: `2%` and `0.02` are the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fraction(f64);

impl Fraction {
    /// The fraction.
    pub fn value(self) -> f64 {
        self.0
    }

    /// So many hundredths, from 1 to 99.
    pub const fn hundredths(hundredths: u8) -> Self {
        assert!(hundredths > 0 && hundredths < 100);
        Self(hundredths as f64 / 100.0)
    }
}

/// It is always a number.
impl Eq for Fraction {}

impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A text that is no fraction.
#[derive(Debug, PartialEq, Error)]
pub enum InvalidFraction {
    /// Not a number.
    #[error("not a number")]
    NotANumber,
    /// A number that is a fraction only with a percent sign.
    #[error("it could be `{0}%` or a fraction below 1; write the percent sign")]
    Ambiguous(f64),
    /// Nothing, or everything, or more.
    #[error("above 0% and below 100% is possible")]
    OutOfRange,
}

impl FromStr for Fraction {
    type Err = InvalidFraction;

    fn from_str(text: &str) -> Result<Self, InvalidFraction> {
        let parse = |number: &str| number.trim().parse::<f64>().map_err(|_| InvalidFraction::NotANumber);
        let fraction = match text.strip_suffix('%') {
            Some(percent) => parse(percent)? / 100.0,
            None => match parse(text)? {
                number if (1.0..100.0).contains(&number) => return Err(InvalidFraction::Ambiguous(number)),
                fraction => fraction,
            },
        };
        if fraction > 0.0 && fraction < 1.0 {
            Ok(Self(fraction))
        } else {
            Err(InvalidFraction::OutOfRange)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentage_and_a_fraction_are_told_apart_by_the_sign() {
        assert_eq!("2%".parse(), Ok(Fraction(0.02)));
        assert_eq!("0.02".parse(), Ok(Fraction(0.02)));
        assert_eq!(" 0.5 %".parse(), Ok(Fraction(0.005)));
    }

    #[test]
    fn a_bare_number_from_one_on_could_be_either() {
        assert_eq!("2".parse::<Fraction>(), Err(InvalidFraction::Ambiguous(2.0)));
        assert_eq!("1".parse::<Fraction>(), Err(InvalidFraction::Ambiguous(1.0)));
    }

    #[test]
    fn what_is_no_fraction_is_refused() {
        for text in ["", "%", "one", "NaN", "inf"] {
            assert!(text.parse::<Fraction>().is_err(), "{text}");
        }
        for text in ["0", "0%", "100%", "100", "-1%", "-0.5"] {
            assert_eq!(text.parse::<Fraction>(), Err(InvalidFraction::OutOfRange), "{text}");
        }
    }
}
