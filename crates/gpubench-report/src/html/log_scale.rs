//! Round tick values of logarithmic scales.

use super::chart::Scale;

/// A round value on a logarithmic scale: a factor times a power of ten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    factor: u32,
    power: i32,
}

/// Factors of the round values between two powers of ten.
const FACTORS: [u32; 3] = [1, 2, 5];

/// The powers of ten that marks can have. Other values have none.
const POWERS: std::ops::RangeInclusive<i32> = -30..=30;

/// Returns the tick values of a logarithmic scale: powers of ten, every other one if there are
/// many, and two and five times each if there are few.
pub(super) fn marks(scale: &Scale) -> Vec<Mark> {
    let of_factor = |factor| POWERS.map(move |power| Mark { factor, power });
    let on_scale = |mark: &Mark| scale.contains(mark.log10());
    let decades: Vec<Mark> = of_factor(1).filter(on_scale).collect();
    if decades.len() < 3 {
        return FACTORS.into_iter().flat_map(of_factor).filter(on_scale).collect();
    }
    let step = decades.len().div_ceil(7);
    decades.into_iter().step_by(step).collect()
}

/// Returns the logarithms of the nearest round values around an interval of positive values, so
/// that the scale between them has at least two ticks.
pub(super) fn rounded((low, high): (f64, f64)) -> (f64, f64) {
    let all = || POWERS.flat_map(|power| FACTORS.map(|factor| Mark { factor, power }.log10()));
    let (low, high) = (low.log10(), high.log10());
    let from = all().filter(|mark| *mark <= low).fold(f64::NEG_INFINITY, f64::max);
    let to = all()
        .filter(|mark| *mark >= high && *mark > from)
        .fold(f64::INFINITY, f64::min);
    let finite = |bound: f64, other: f64| if bound.is_finite() { bound } else { other };
    (finite(from, low), finite(to, high))
}

impl Mark {
    /// Returns the logarithm to base ten.
    pub(super) fn log10(self) -> f64 {
        f64::from(self.factor).log10() + f64::from(self.power)
    }

    /// Returns the value.
    pub(super) fn value(self) -> f64 {
        f64::from(self.factor) * 10f64.powi(self.power)
    }

    /// `0.01`, `1`, `1000`.
    pub(super) fn plain(self) -> String {
        let Mark { factor, power } = self;
        match power {
            -3..=-1 => format!("0.{}{factor}", "0".repeat(power.unsigned_abs() as usize - 1)),
            0..=4 => format!("{factor}{}", "0".repeat(power.unsigned_abs() as usize)),
            _ => format!("{factor}e{power}"),
        }
    }

    /// `100 M`, `1 G`.
    pub(super) fn prefixed(self) -> String {
        let Mark { factor, power } = self;
        let prefixes = ["", " k", " M", " G", " T", " P"];
        let prefix = usize::try_from(power.div_euclid(3))
            .ok()
            .and_then(|group| prefixes.get(group));
        match prefix {
            Some(prefix) => format!("{}{prefix}", factor * 10u32.pow(power.rem_euclid(3).unsigned_abs())),
            None => format!("{factor}e{power}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ticks_have_readable_labels() {
        let mark = |factor, power| Mark { factor, power };
        assert_eq!(
            [mark(2, -2), mark(5, 0), mark(1, 3), mark(1, -9)].map(Mark::plain),
            ["0.02", "5", "1000", "1e-9"]
        );
        assert_eq!(
            [mark(2, 11), mark(1, 9), mark(5, 2), mark(1, -1)].map(Mark::prefixed),
            ["200 G", "1 G", "500", "1e-1"]
        );
    }

    #[test]
    fn a_scale_with_few_powers_of_ten_has_marks_between_them() {
        let named = |from: f64, to: f64| {
            marks(&Scale::new((from.log10(), to.log10()), (0.0, 1.0)))
                .into_iter()
                .map(Mark::plain)
                .collect::<Vec<_>>()
        };
        assert_eq!(named(0.09, 0.6), ["0.1", "0.2", "0.5"]);
        assert_eq!(named(0.5, 2_000.0), ["1", "10", "100", "1000"]);
    }

    proptest! {
        #[test]
        fn a_rounded_scale_contains_the_values_and_has_ticks(low in 1e-9f64..1e15, factor in 1f64..1e9) {
            let (from, to) = rounded((low, low * factor));
            prop_assert!(from <= low.log10() && (low * factor).log10() <= to);
            let ticks = marks(&Scale::new((from, to), (0.0, 1.0)));
            prop_assert!((2..=12).contains(&ticks.len()), "{ticks:?}");
        }
    }
}
