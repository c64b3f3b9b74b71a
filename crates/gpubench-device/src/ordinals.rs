//! Which devices of a kind a run uses.

use std::num::IntErrorKind;

/// Most numbers in a list. No machine has as many GPUs.
const MOST: usize = 256;

/// Which devices of a kind a run uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ordinals {
    /// Those with these numbers, at least one, each once.
    Listed(Vec<u32>),
    /// All that can be used.
    All,
}

/// A list of devices that names none, or cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OrdinalsError {
    /// There is nothing before, after or between commas.
    #[error("a number is missing (hint: write `all`, or numbers like `0,2` or `0-3`)")]
    Missing,
    /// A part of the list is no number.
    #[error("`{0}` is no number (hint: write `all`, or numbers like `0,2` or `0-3`)")]
    NotANumber(String),
    /// A number does not fit into 32 bits.
    #[error("`{0}` is too large (hint: the first GPU is 0)")]
    TooLarge(String),
    /// A device would measure twice.
    #[error("`{0}` is there twice (hint: name each GPU once)")]
    Twice(u32),
    /// A range ends before it begins.
    #[error("`{0}` ends before it begins (hint: write the smaller number first)")]
    Backwards(String),
    /// There are more numbers than devices in any machine.
    #[error("there are more than {MOST} numbers (hint: write `all`)")]
    TooMany,
}

impl Default for Ordinals {
    /// Returns the first device.
    fn default() -> Ordinals {
        Ordinals::one(0)
    }
}

impl Ordinals {
    /// Returns a single device.
    pub fn one(ordinal: u32) -> Ordinals {
        Ordinals::Listed(vec![ordinal])
    }

    /// Returns the first of the numbers.
    pub fn first(&self) -> u32 {
        match self {
            Ordinals::Listed(listed) => listed.first().copied().unwrap_or_default(),
            Ordinals::All => 0,
        }
    }
}

impl std::str::FromStr for Ordinals {
    type Err = OrdinalsError;

    /// Reads `all`, or numbers and ranges between commas.
    fn from_str(text: &str) -> Result<Ordinals, OrdinalsError> {
        if text == "all" {
            return Ok(Ordinals::All);
        }
        let mut listed = Vec::new();
        for part in text.split(',') {
            let (first, last) = match part.split_once('-') {
                Some((first, last)) => (number(first)?, number(last)?),
                None => (number(part)?, number(part)?),
            };
            if last < first {
                return Err(OrdinalsError::Backwards(part.to_owned()));
            }
            if (last - first) as usize >= MOST - listed.len() {
                return Err(OrdinalsError::TooMany);
            }
            for ordinal in first..=last {
                if listed.contains(&ordinal) {
                    return Err(OrdinalsError::Twice(ordinal));
                }
                listed.push(ordinal);
            }
        }
        Ok(Ordinals::Listed(listed))
    }
}

fn number(text: &str) -> Result<u32, OrdinalsError> {
    if text.starts_with('+') {
        return Err(OrdinalsError::NotANumber(text.to_owned()));
    }
    text.parse()
        .map_err(|error: std::num::ParseIntError| match error.kind() {
            IntErrorKind::Empty => OrdinalsError::Missing,
            IntErrorKind::PosOverflow => OrdinalsError::TooLarge(text.to_owned()),
            _ => OrdinalsError::NotANumber(text.to_owned()),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_ranges_are_listed_in_their_order() {
        let listed = |text: &str| text.parse::<Ordinals>();
        assert_eq!(listed("all"), Ok(Ordinals::All));
        assert_eq!(listed("3"), Ok(Ordinals::one(3)));
        assert_eq!(listed("2,0"), Ok(Ordinals::Listed(vec![2, 0])));
        assert_eq!(listed("0-2,7"), Ok(Ordinals::Listed(vec![0, 1, 2, 7])));
        assert_eq!(listed("4294967295"), Ok(Ordinals::one(u32::MAX)));
    }

    #[test]
    fn a_list_that_names_no_device_or_one_twice_is_refused() {
        let refused = |text: &str| text.parse::<Ordinals>().expect_err(text);
        for text in ["", ",", "0,", ",1", "-1", "1-"] {
            assert_eq!(refused(text), OrdinalsError::Missing, "{text}");
        }
        for (text, part) in [
            ("x", "x"),
            ("0, 1", " 1"),
            ("+1", "+1"),
            ("0-1-2", "1-2"),
            ("All", "All"),
        ] {
            assert_eq!(refused(text), OrdinalsError::NotANumber(part.to_owned()), "{text}");
        }
        assert_eq!(refused("0,0"), OrdinalsError::Twice(0));
        assert_eq!(refused("0-3,2"), OrdinalsError::Twice(2));
        assert_eq!(refused("3-1"), OrdinalsError::Backwards("3-1".to_owned()));
        assert_eq!(refused("0-4294967295"), OrdinalsError::TooMany);
        assert_eq!(refused("0-255,256"), OrdinalsError::TooMany);
        assert_eq!(refused("4294967296"), OrdinalsError::TooLarge("4294967296".to_owned()));
    }
}
