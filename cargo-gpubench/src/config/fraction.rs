//! Fractions: percentages, or numbers below 1 as in criterion.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// A fraction above 0 and below 1: `2%` or `0.02`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fraction(f64);

impl Fraction {
    /// Returns the number.
    pub fn value(self) -> f64 {
        self.0
    }

    /// Creates a fraction.
    ///
    /// # Panics
    /// The number is not above 0 and below 1.
    pub const fn new(fraction: f64) -> Self {
        assert!(fraction > 0.0 && fraction < 1.0);
        Self(fraction)
    }
}

/// The number is never NaN.
impl Eq for Fraction {}

impl fmt::Display for Fraction {
    /// Displays a percentage if it is exact, otherwise the number.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percentage = format!("{}%", (self.0 * 1e12).round() / 1e10);
        match percentage.parse() {
            Ok(Self(exact)) if exact == self.0 => f.write_str(&percentage),
            _ => self.0.fmt(f),
        }
    }
}

/// An invalid fraction.
#[derive(Debug, PartialEq, Error)]
pub enum InvalidFraction {
    /// Not a number.
    #[error("must be a fraction: `2%`, `0.02`")]
    NotANumber,
    /// A number from 1 to 100 without a percent sign.
    #[error("ambiguous; write `{0}%` or `{fraction}`", fraction = .0 / 100.0)]
    Ambiguous(f64),
    /// Not above 0 and below 1.
    #[error("must be above 0% and below 100%: `2%`, `0.02`")]
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
    fn the_sign_distinguishes_a_percentage_from_a_fraction() {
        assert_eq!("2%".parse(), Ok(Fraction(0.02)));
        assert_eq!("0.02".parse(), Ok(Fraction(0.02)));
        assert_eq!(" 0.5 %".parse(), Ok(Fraction(0.005)));
    }

    #[test]
    fn a_displayed_fraction_can_be_parsed() {
        for (text, shown) in [("0.02", "2%"), ("7%", "7%"), ("99.99%", "99.99%"), ("0.07", "7%")] {
            let fraction: Fraction = text.parse().expect("a fraction");
            assert_eq!(fraction.to_string(), shown);
            assert_eq!(shown.parse(), Ok(fraction));
        }
        let odd = Fraction(1.0 / 3.0);
        assert_eq!(odd.to_string().parse(), Ok(odd));
    }

    #[test]
    fn a_number_from_one_without_a_sign_is_ambiguous() {
        assert_eq!("2".parse::<Fraction>(), Err(InvalidFraction::Ambiguous(2.0)));
        assert_eq!("1".parse::<Fraction>(), Err(InvalidFraction::Ambiguous(1.0)));
    }

    #[test]
    fn an_invalid_fraction_is_refused() {
        for text in ["", "%", "one", "NaN", "inf"] {
            assert!(text.parse::<Fraction>().is_err(), "{text}");
        }
        for text in ["0", "0%", "100%", "100", "-1%", "-0.5"] {
            assert_eq!(text.parse::<Fraction>(), Err(InvalidFraction::OutOfRange), "{text}");
        }
    }
}
