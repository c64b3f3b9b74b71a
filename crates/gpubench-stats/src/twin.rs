//! Drift of the machine between two runs, as their twins show it, and its effect on a ratio.

use super::comparison::{Confidence, Ratio};
use super::estimate::{Estimate, Level};
use super::interquartile_mean::interquartile_mean;
use super::quantile::median;
use gpubench_contract::Twin;

/// The weight of a small drift as an error of a ratio, and how fast the weight grows with the
/// drift: it doubles at 10 %. A kernel with two contending threads can slow down several times on a
/// processor where a twin slows down by a quarter. With these weights, fewer than one row in a
/// hundred differed between runs of the same code on two busy processors
/// (`measurements/2026-11-23-apart.md`).
const DOUBT: f64 = 1.5;
const GROWTH: f64 = 10.0;

/// Returns the error of a ratio's logarithm that a drift with this logarithm may cause.
pub(super) fn doubt(drift: f64) -> f64 {
    DOUBT * drift.abs() * (1.0 + GROWTH * drift.abs())
}

/// Summarizes the twin's times in each round, in nanoseconds. Rounds without a time do not count.
/// `None` if there are no times, or if one of them or the interval is not finite.
pub fn twin(rounds: &[&[f64]]) -> Option<Twin> {
    let estimate = Estimate::from_workers(rounds)?;
    let interval = estimate.interval(Confidence::SHOWN)?;
    Some(Twin {
        value_ns: estimate.value(),
        ci95_ns: [interval.low, interval.high],
        rounds_ns: rounds.iter().filter_map(|times| interquartile_mean(times)).collect(),
    })
}

/// The drift of a machine between two runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drift {
    /// The time of the candidate's twin divided by that of the baseline's.
    pub factor: f64,
    /// Standard error of the logarithm of `factor`, from the spread among the rounds of both twins.
    error: f64,
}

impl Drift {
    /// Computes the drift from two twins. `None` if a twin has no rounds or its value is not
    /// positive.
    pub fn between(baseline: &Twin, candidate: &Twin) -> Option<Drift> {
        let of_rounds = |twin: &Twin| Estimate::from_workers(&twin.rounds_ns.chunks(1).collect::<Vec<_>>());
        let (before, after) = (of_rounds(baseline)?, of_rounds(candidate)?);
        let factor = after.value() / before.value();
        let is_known = before.value() > 0.0 && after.value() > 0.0 && factor.is_normal();
        is_known.then(|| Drift {
            factor,
            error: (before.variance(Level::Workers) + after.variance(Level::Workers)).sqrt(),
        })
    }

    /// Returns the typical drift over the cases of two runs: the median of the absolute logarithms.
    /// Zero if there are none.
    pub fn typical(drifts: &[Drift]) -> f64 {
        median(&drifts.iter().map(|drift| drift.log().abs()).collect::<Vec<_>>()).unwrap_or(0.0)
    }

    fn log(self) -> f64 {
        self.factor.ln()
    }
}

impl Ratio {
    /// Returns this ratio divided by the drift. `typical` is the typical drift of the cases of the
    /// same runs.
    ///
    /// Drift does not slow down a kernel exactly as it does a twin, so drift is an error of the
    /// ratio as well. That error combines the drift of the case's twin, its standard error, and the
    /// typical drift. The interval combines the interval of the values with that error. It always
    /// contains the measured ratio.
    pub fn relative_to(self, drift: Drift, typical: f64) -> Ratio {
        let drifted = drift.log().hypot(drift.error).hypot(typical);
        let reach = self.reach().hypot(doubt(drifted));
        Ratio::around(self.estimate / drift.factor, reach)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Interval;

    fn of_rounds(rounds: &[f64]) -> Twin {
        twin(&rounds.chunks(1).collect::<Vec<_>>()).unwrap()
    }

    fn between(baseline: &[f64], candidate: &[f64]) -> Drift {
        Drift::between(&of_rounds(baseline), &of_rounds(candidate)).unwrap()
    }

    fn drifted(factor: f64, error: f64) -> Drift {
        Drift { factor, error }
    }

    fn ratio(estimate: f64, reach: f64) -> Ratio {
        Ratio::around(estimate, reach)
    }

    #[test]
    fn the_value_of_a_twin_is_computed_like_that_of_a_case() {
        let rounds: [&[f64]; 3] = [&[100.0, 101.0, 110.0, 99.0], &[], &[120.0, 119.0]];
        let (twin, case) = (twin(&rounds).unwrap(), crate::summary(&rounds).unwrap());
        assert_eq!((twin.value_ns, Some(twin.ci95_ns)), (case.value, case.ci95));
        assert_eq!(twin.rounds_ns, [100.5, 119.5]);
    }

    #[test]
    fn no_times_and_times_that_are_not_finite_are_no_twin() {
        assert_eq!(twin(&[]), None);
        assert_eq!(twin(&[&[], &[]]), None);
        assert_eq!(twin(&[&[1.0, f64::NAN]]), None);
    }

    #[test]
    fn a_machine_that_did_not_change_has_not_drifted() {
        let drift = between(&[100.0, 101.0, 99.0], &[99.0, 100.0, 101.0]);
        assert!((drift.factor - 1.0).abs() < 1e-12);
        assert!(drift.error > 0.001 && drift.error < 0.02, "{drift:?}");
    }

    #[test]
    fn rounds_that_differ_increase_the_error_of_the_drift() {
        let [steady, restless] = [1.0, 10.0].map(|spread| {
            let run = [100.0 - spread, 100.0, 100.0 + spread];
            between(&run, &run).error
        });
        assert!(restless > 9.0 * steady, "{restless} and {steady}");
    }

    #[test]
    fn the_rounds_of_either_run_count_for_the_error_of_the_drift() {
        let (steady, restless) = ([100.0; 3], [90.0, 100.0, 110.0]);
        let [there, back] = [(&steady, &restless), (&restless, &steady)].map(|(one, other)| between(one, other));
        assert!(
            there.error > 0.05 && (there.error - back.error).abs() < 1e-12,
            "{there:?} {back:?}"
        );
        let both = between(&restless, &restless);
        assert!((both.error - there.error * 2f64.sqrt()).abs() < 1e-12, "{both:?}");
    }

    #[test]
    fn the_doubt_grows_with_the_drift() {
        // 1.5 times the drift, and ten times the drift more.
        for (drift, reach) in [(0.0, 0.0), (0.1, 0.3), (0.2, 0.9)] {
            let relative = ratio(1.0, 0.0).relative_to(drifted(1.0, 0.0), drift);
            assert!((relative.reach() - reach).abs() < 1e-12, "{drift}: {relative:?}");
            let relative = ratio(1.0, 0.0).relative_to(drifted(1.0, drift), 0.0);
            assert!((relative.reach() - reach).abs() < 1e-12, "{drift}: {relative:?}");
        }
    }

    #[test]
    fn a_twin_without_positive_times_has_no_drift() {
        let fine = of_rounds(&[100.0, 101.0]);
        let empty = Twin {
            rounds_ns: Vec::new(),
            ..fine.clone()
        };
        let (least, most) = (of_rounds(&[f64::MIN_POSITIVE; 2]), of_rounds(&[f64::MAX / 4.0; 2]));
        assert_eq!(Drift::between(&least, &most), None, "the factor is not finite");
        for broken in [of_rounds(&[0.0, 0.0]), of_rounds(&[-1.0, -1.0]), empty] {
            assert_eq!(Drift::between(&fine, &broken), None);
            assert_eq!(Drift::between(&broken, &fine), None);
        }
    }

    #[test]
    fn a_change_that_drift_can_explain_does_not_count() {
        let excludes_one = |measured: f64, factor: f64, typical: f64| {
            let relative = ratio(measured, 0.01).relative_to(drifted(factor, 0.005), typical);
            relative.interval.low > 1.0 || relative.interval.high < 1.0
        };
        assert!(excludes_one(1.1, 1.0, 0.0));
        assert!(excludes_one(1.1, 1.02, 0.02));
        assert!(!excludes_one(1.1, 1.1, 0.0), "drift can explain all of it");
        assert!(!excludes_one(1.0, 1.1, 0.0), "drift may not affect the kernel");
        assert!(
            !excludes_one(1.1, 1.04, 0.02),
            "drift may affect the kernel more than the twin"
        );
        assert!(!excludes_one(1.1, 1.0, 0.1), "the twin may have missed the drift");
    }

    #[test]
    fn the_typical_drift_is_the_median_of_absolute_drifts() {
        let drifts = [0.8, 1.1, 1.0].map(|factor| drifted(factor, 0.0));
        assert!((Drift::typical(&drifts) - 1.1f64.ln()).abs() < 1e-12);
        assert_eq!(Drift::typical(&[]), 0.0);
    }

    proptest! {
        #[test]
        fn the_interval_contains_the_measured_and_the_corrected_ratio(
            (measured, factor) in (0.01..100.0f64, 0.01..100.0f64),
            (own, error, typical) in (0.0..1.0f64, 0.0..1.0f64, 0.0..1.0f64),
        ) {
            let relative = ratio(measured, own).relative_to(drifted(factor, error), typical);
            let Interval { low, high } = relative.interval;
            for inside in [measured, measured / factor] {
                prop_assert!(low <= inside * (1.0 + 1e-9) && inside <= high * (1.0 + 1e-9));
            }
            prop_assert!(relative.reach() >= own.max(DOUBT * typical) - 1e-9);
        }

        #[test]
        fn swapping_the_runs_inverts_the_ratio(measured in 0.01..100.0f64, factor in 0.1..10.0f64) {
            let there = ratio(measured, 0.1).relative_to(drifted(factor, 0.02), 0.03);
            let back = ratio(1.0 / measured, 0.1).relative_to(drifted(1.0 / factor, 0.02), 0.03);
            prop_assert!((there.interval.low * back.interval.high - 1.0).abs() < 1e-9);
        }
    }
}
