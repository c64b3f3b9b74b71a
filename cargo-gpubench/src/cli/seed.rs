//! Seeds on the command line.

use std::str::FromStr;

use thiserror::Error;

use crate::broker::options::MasterSeed;

const BYTES: usize = 32;

#[derive(Debug, Error)]
#[error("must be 1 to {} hexadecimal digits", 2 * BYTES)]
pub struct InvalidSeed;

impl FromStr for MasterSeed {
    type Err = InvalidSeed;

    /// Reads the digits as a number: `ff` is the seed whose last byte is 255 and whose other bytes
    /// are 0.
    fn from_str(text: &str) -> Result<Self, InvalidSeed> {
        let digits = text.strip_prefix("0x").unwrap_or(text);
        if digits.is_empty() || digits.len() > 2 * BYTES {
            return Err(InvalidSeed);
        }
        let mut seed = [0; BYTES];
        for (position, digit) in digits.bytes().rev().enumerate() {
            let value = char::from(digit)
                .to_digit(16)
                .and_then(|value| u8::try_from(value).ok())
                .ok_or(InvalidSeed)?;
            seed[BYTES - 1 - position / 2] |= value << (4 * (position % 2));
        }
        Ok(Self::Pinned(seed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_a_number() {
        let mut expected = [0; BYTES];
        expected[30..].copy_from_slice(&[0x1, 0x2f]);
        assert_eq!("0x12F".parse::<MasterSeed>().ok(), Some(MasterSeed::Pinned(expected)));
        assert_eq!(
            "f".repeat(64).parse::<MasterSeed>().ok(),
            Some(MasterSeed::Pinned([0xff; BYTES]))
        );
    }

    #[test]
    fn an_invalid_seed_is_refused() {
        for text in ["", "0x", "12g", &"0".repeat(65)] {
            assert!(text.parse::<MasterSeed>().is_err(), "{text}");
        }
    }
}
