//! Sizes in bytes on the command line.

use thiserror::Error;

#[derive(Debug, Error)]
pub(super) enum InvalidByteSize {
    #[error("must be a whole number, with or without a unit: `8MiB`, `64MB`, `4096`")]
    Form,
    #[error("unknown unit `{0}`; use B, kB, MB, GB, KiB, MiB or GiB")]
    Unit(String),
    #[error("too large")]
    TooLarge,
}

/// Reads a number of bytes.
pub(super) fn parse_size(text: &str) -> Result<u64, InvalidByteSize> {
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    if number.is_empty() {
        return Err(InvalidByteSize::Form);
    }
    let number: u64 = number.parse().map_err(|_| InvalidByteSize::TooLarge)?;
    let bytes_of_unit = match unit.trim() {
        "" | "B" => 1,
        "kB" | "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        unknown => return Err(InvalidByteSize::Unit(unknown.to_owned())),
    };
    number.checked_mul(bytes_of_unit).ok_or(InvalidByteSize::TooLarge)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binary_and_decimal_units_differ() {
        assert_eq!(parse_size("8MiB").ok(), Some(8_388_608));
        assert_eq!(parse_size("64 MB").ok(), Some(64_000_000));
        assert_eq!(parse_size("4096").ok(), Some(4096));
        assert_eq!(parse_size("0").ok(), Some(0));
    }

    #[test]
    fn an_invalid_size_is_refused() {
        for text in ["", "MiB", "-1", "1.5MiB", "1mib", "99999999999GiB"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }
}
