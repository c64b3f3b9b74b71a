//! Numbers with units, for people: four significant digits, and a unit that avoids zeros.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Returns a count with its noun: `1 case`, `5 cases`.
pub fn counted<N: fmt::Display + PartialEq + From<u8>>(count: N, what: &str) -> String {
    if count == N::from(1) {
        format!("1 {what}")
    } else {
        format!("{count} {what}s")
    }
}

/// A number and its unit as separate strings, so that tables can align both.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quantity {
    /// The number, with four significant digits.
    pub number: String,
    /// The unit.
    pub unit: String,
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{} {}", self.number, self.unit))
    }
}

/// Formats a value with its base unit: `1.204 ms`, `1.204 M instructions`, `12.30 GB/s`.
pub fn in_unit(value: f64, unit: &str) -> Quantity {
    let (worth, unit) = scale_of(value, unit);
    Quantity {
        number: four_digits(value / worth),
        unit,
    }
}

/// Returns the first unit in which a value has at most three digits before the decimal point, and
/// its size in the base unit. Times, sizes and energies have units of their own. All others have
/// decimal prefixes.
pub fn scale_of(value: f64, base: &str) -> (f64, String) {
    if let Some((_, units)) = SCALES.iter().find(|(known, _)| *known == base) {
        let (worth, unit) = fitting(value, units);
        return (worth, unit.to_owned());
    }
    let (worth, prefix) = fitting(value, &PREFIXES);
    let gap = if prefix.is_empty() || base.is_empty() || base.contains('/') {
        ""
    } else {
        " "
    };
    (worth, format!("{prefix}{gap}{base}"))
}

/// Returns the first unit in which a value has at most three digits before the decimal point.
fn fitting(value: f64, units: &[Unit]) -> Unit {
    let mut fitting = units.iter().filter(|(worth, _)| (value / worth).abs() < 999.95);
    fitting.next().copied().unwrap_or(units[units.len() - 1])
}

/// Returns the letters of the longest unit that values of a base unit are shown in.
pub fn longest_unit(base: &str) -> usize {
    let scale = SCALES.iter().find(|(known, _)| *known == base);
    let values = scale
        .map_or(&PREFIXES[..], |(_, units)| units)
        .iter()
        .map(|(worth, _)| *worth);
    let letters = values.map(|value| scale_of(value, base).1.chars().count());
    letters.max().unwrap_or_default()
}

/// A unit and its size in the base unit.
type Unit = (f64, &'static str);

/// Base units, each with the units that values are shown in.
const SCALES: [(&str, &[Unit]); 3] = [("ns", &TIMES), ("B", &BYTES), ("J", &ENERGIES)];

const TIMES: [Unit; 4] = [(1.0, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s")];

const ENERGIES: [Unit; 3] = [(1e-6, "µJ"), (1e-3, "mJ"), (1.0, "J")];

const PREFIXES: [Unit; 5] = [(1.0, ""), (1e3, "k"), (1e6, "M"), (1e9, "G"), (1e12, "T")];

const BYTES: [Unit; 5] = [
    (1.0, "B"),
    (1024.0, "KiB"),
    (1_048_576.0, "MiB"),
    (1_073_741_824.0, "GiB"),
    (1_099_511_627_776.0, "TiB"),
];

/// Formats a time: `1.204 ms`.
pub fn time(nanoseconds: f64) -> Quantity {
    in_unit(nanoseconds, "ns")
}

/// Formats an energy: `1.204 mJ`.
pub fn energy(joules: f64) -> Quantity {
    in_unit(joules, "J")
}

/// Formats a memory rate with decimal prefixes, as vendors do: `12.30 GB/s`.
pub fn byte_rate(bytes_per_second: f64) -> Quantity {
    in_unit(bytes_per_second, "B/s")
}

/// Formats an arithmetic rate: `5.240 GFLOP/s`.
pub fn flop_rate(flops_per_second: f64) -> Quantity {
    in_unit(flops_per_second, "FLOP/s")
}

/// Formats the rate of a counter: `1.204 G tokens/s`. Its name is never one of a unit, such as `B`.
pub fn counter_rate(name: &str, per_second: f64) -> Quantity {
    let (worth, prefix) = fitting(per_second, &PREFIXES);
    let gap = if prefix.is_empty() { "" } else { " " };
    Quantity {
        number: four_digits(per_second / worth),
        unit: format!("{prefix}{gap}{name}/s"),
    }
}

/// Formats a size with binary prefixes, as is usual for caches and buffers: `8 MiB`, `1.500 KiB`.
pub fn size(bytes: u64) -> Quantity {
    let (worth, unit) = BYTES
        .into_iter()
        .rfind(|(worth, _)| bytes as f64 >= *worth)
        .unwrap_or(BYTES[0]);
    let value = bytes as f64 / worth;
    let number = if value.fract() == 0.0 {
        format!("{value}")
    } else {
        four_digits(value)
    };
    Quantity {
        number,
        unit: unit.to_owned(),
    }
}

/// Formats a fraction as a percentage in at most five characters: `0.42%`, `12.3%`, `150%`,
/// `>999%`.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        _ if !percent.is_finite() => "?".to_owned(),
        _ if percent < 9.995 => format!("{percent:.2}%"),
        _ if percent < 99.95 => format!("{percent:.1}%"),
        _ if percent < 999.5 => format!("{percent:.0}%"),
        _ => ">999%".to_owned(),
    }
}

/// Formats a ratio as a relative change: `+3.02%`, `-9.10%`, `0.00%`. From tenfold, it is a factor:
/// `×12.30`.
pub fn change(ratio: f64) -> String {
    let share = ratio - 1.0;
    match ratio {
        _ if !ratio.is_finite() => "?".to_owned(),
        _ if ratio >= 9_999.5 => ">×9999".to_owned(),
        _ if ratio >= 9.995 => format!("×{}", four_digits(ratio)),
        _ if (share * 100.0).abs() < 0.005 => percent(0.0),
        _ if share < 0.0 => format!("-{}", percent(-share)),
        _ => format!("+{}", percent(share)),
    }
}

/// Joins the parts that are known with commas.
pub fn listed(parts: impl IntoIterator<Item = Option<String>>) -> String {
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Formats a wall time: `0.42 s`, `14.2 s`, `2 min 14 s`, `1 h 03 min`.
pub fn wall_time(wall: Duration) -> String {
    let seconds = wall.as_secs_f64();
    let whole = seconds.round() as u64;
    match whole {
        _ if seconds < 0.995 => format!("{seconds:.2} s"),
        _ if seconds < 59.95 => format!("{seconds:.1} s"),
        0..3_600 => format!("{} min {:02} s", whole / 60, whole % 60),
        _ => format!("{} h {:02} min", whole / 3_600, whole % 3_600 / 60),
    }
}

/// Formats four significant digits without an exponent. The limits are the values that would round
/// to a fifth digit.
fn four_digits(value: f64) -> String {
    let decimals = match value.abs() {
        0.0 => 0,
        magnitude if magnitude < 9.9995 => 3,
        magnitude if magnitude < 99.995 => 2,
        magnitude if magnitude < 999.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn times_choose_their_unit_after_rounding() {
        for (nanoseconds, shown) in [
            (0.0, "0 ns"),
            (0.3, "0.300 ns"),
            (3.65, "3.650 ns"),
            (9.9996, "10.00 ns"),
            (999.9, "999.9 ns"),
            (999.96, "1.000 µs"),
            (1_024.0, "1.024 µs"),
            (205_200.0, "205.2 µs"),
            (1_204_000.0, "1.204 ms"),
            (2.5e9, "2.500 s"),
            (1.5e12, "1500 s"),
            (-1_024.0, "-1.024 µs"),
        ] {
            assert_eq!(time(nanoseconds).to_string(), shown);
        }
    }

    #[test]
    fn rates_use_decimal_prefixes_and_sizes_binary_ones() {
        assert_eq!(byte_rate(4.8e12).to_string(), "4.800 TB/s");
        assert_eq!(byte_rate(12.3e6).to_string(), "12.30 MB/s");
        assert_eq!(flop_rate(5.24e9).to_string(), "5.240 GFLOP/s");
        assert_eq!(in_unit(1.204e6, "instructions").to_string(), "1.204 M instructions");
        assert_eq!(in_unit(12.0, "instructions").to_string(), "12.00 instructions");
        assert_eq!(counter_rate("tokens", 1.204e9).to_string(), "1.204 G tokens/s");
        assert_eq!(counter_rate("B", 2_048.0).to_string(), "2.048 k B/s");
        assert_eq!(counter_rate("images", 12.0).to_string(), "12.00 images/s");
        assert_eq!(in_unit(1.204e6, "ns").to_string(), "1.204 ms");
        assert_eq!(in_unit(12.5 * 1_048_576.0, "B").to_string(), "12.50 MiB");
        assert_eq!(in_unit(1_204e-6, "J").to_string(), "1.204 mJ");
        assert_eq!(energy(0.000_167).to_string(), "167.0 µJ");
        assert_eq!(size(8 << 20).to_string(), "8 MiB");
        assert_eq!(size(1_536).to_string(), "1.500 KiB");
        assert_eq!(size(0).to_string(), "0 B");
        let at_limits = [1_023, 1 << 10, 1 << 20, 1 << 40].map(|bytes| size(bytes).to_string());
        assert_eq!(at_limits, ["1023 B", "1 KiB", "1 MiB", "1 TiB"]);
    }

    #[test]
    fn a_percentage_has_at_most_five_characters() {
        let shown = [0.0, 0.000_04, 0.0042, 0.123, 1.5, 99.0, f64::NAN].map(percent);
        assert_eq!(shown, ["0.00%", "0.00%", "0.42%", "12.3%", "150%", ">999%", "?"]);
        let at_limits = [0.099_94, 0.099_96, 0.999_4, 0.999_6, 9.994, 9.996].map(percent);
        assert_eq!(at_limits, ["9.99%", "10.0%", "99.9%", "100%", "999%", ">999%"]);
    }

    #[test]
    fn a_change_has_its_sign_and_a_large_one_is_a_factor() {
        let shown = [
            1.0,
            1.000_04,
            1.0302,
            0.909,
            0.05,
            2.0,
            9.99,
            9.999,
            123.4,
            1e40,
            f64::INFINITY,
        ]
        .map(change);
        assert_eq!(
            shown,
            [
                "0.00%", "0.00%", "+3.02%", "-9.10%", "-95.0%", "+100%", "+899%", "×9.999", "×123.4", ">×9999", "?"
            ]
        );
    }

    #[test]
    fn wall_times_use_everyday_units() {
        let shown =
            [0.42, 0.999, 14.24, 59.97, 134.0, 3_780.0].map(|seconds| wall_time(Duration::from_secs_f64(seconds)));
        assert_eq!(
            shown,
            ["0.42 s", "1.0 s", "14.2 s", "1 min 00 s", "2 min 14 s", "1 h 03 min"]
        );
    }

    proptest! {
        #[test]
        fn the_number_of_a_time_below_1000_seconds_has_at_most_five_characters(nanoseconds in 0.0..9e11f64) {
            let quantity = time(nanoseconds);
            prop_assert!(quantity.number.len() <= 5, "{}", quantity);
        }
    }
}
