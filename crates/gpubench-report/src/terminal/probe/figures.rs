//! Counts, rates, sizes and ages as cells of a table.

use std::time::Duration;

use gpubench_contract::units::{byte_rate, size, wall_time};

/// Returns a count with its digits in groups of three: `1,234,567`.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() * 4 / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Returns a count with its noun: `1 process`, `1,234 processes`.
pub(crate) fn several(number: u64, one: &str, many: &str) -> String {
    match number {
        1 => format!("1 {one}"),
        number => format!("{} {many}", count(number)),
    }
}

/// Returns a number a second: `0.4`, `12.5`, `12,345`. 0 is `-`.
pub(crate) fn rate(number: f64) -> String {
    match number {
        _ if number <= 0.0 => super::super::table::NONE.to_owned(),
        _ if number < 99.95 => format!("{number:.1}"),
        _ => count(number.round() as u64),
    }
}

/// Returns a number a second in a sentence, where 0 is `0`.
pub(crate) fn rate_in_words(number: f64) -> String {
    if number > 0.0 { rate(number) } else { "0".to_owned() }
}

/// Returns a size in a sentence, where 0 is `0 B`.
pub(crate) fn bytes_in_words(number: u64) -> String {
    size(number).to_string()
}

/// Returns a size: `1.500 GiB`. 0 is `-`.
pub(crate) fn bytes(number: u64) -> String {
    match number {
        0 => super::super::table::NONE.to_owned(),
        _ => size(number).to_string(),
    }
}

/// Returns a number of bytes a second: `12.30 GB/s`. 0 is `-`.
pub(crate) fn bytes_rate(number: f64) -> String {
    if number > 0.0 {
        byte_rate(number).to_string()
    } else {
        super::super::table::NONE.to_owned()
    }
}

/// Returns an age: `12 µs`, `2.3 ms`, `14.2 s`, `2 min 14 s`.
pub(crate) fn age(nanoseconds: u64) -> String {
    match nanoseconds {
        0..950_000 => format!("{:.0} µs", nanoseconds as f64 / 1e3),
        950_000..9_950_000 => format!("{:.1} ms", nanoseconds as f64 / 1e6),
        9_950_000..99_500_000 => format!("{:.0} ms", nanoseconds as f64 / 1e6),
        _ => wall_time(Duration::from_nanos(nanoseconds)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_of_counts_are_in_groups() {
        let counts = [0, 12, 123, 1234, 123_456, 1_234_567].map(count);
        assert_eq!(counts, ["0", "12", "123", "1,234", "123,456", "1,234,567"]);
    }

    #[test]
    fn short_times_are_not_zero() {
        let times = [
            20_300,
            2_345_546,
            45_600_000,
            400_000_000,
            12_400_000_000,
            62_000_000_000,
        ]
        .map(age);
        assert_eq!(times, ["20 µs", "2.3 ms", "46 ms", "0.40 s", "12.4 s", "1 min 02 s"]);
    }

    #[test]
    fn nothing_is_a_number_in_a_sentence_and_a_dash_in_a_cell() {
        assert_eq!([rate_in_words(0.0), bytes_in_words(0)], ["0", "0 B"]);
        assert_eq!([rate(0.0), bytes(0)], ["-", "-"]);
    }

    #[test]
    fn rates_have_a_decimal_where_it_matters() {
        assert_eq!(
            [0.0, 0.04, 12.34, 99.96, 1234.5].map(rate),
            ["-", "0.0", "12.3", "100", "1,235"]
        );
    }
}
