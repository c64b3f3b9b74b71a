//! What a fixed job of the tool's own says of the machine, and a ratio of two runs beside it.

use super::comparison::{Confidence, Ratio};
use super::estimate::{Estimate, Level};
use super::interquartile_mean::interquartile_mean;
use super::quantile::median;
use gpubench_contract::Twin;

/// How many times a small drift counts as an error of a ratio, and by how much more a larger one
/// does: it is twice that at 10 %, since kernels that two threads contend in slow down by several
/// times on processors on which a twin does by a quarter. With these, fewer than one row in a
/// hundred between runs of the same code was told apart on two busy processors
/// (`docs/measurements/2026-11-23-apart.md`).
const DOUBT: f64 = 1.5;
const GROWTH: f64 = 10.0;

/// Sums up what a twin took in each round, in nanoseconds; rounds without it do not count. `None`
/// where there are none at all, where a time is not finite, and where the interval is not.
pub fn twin(rounds: &[&[f64]]) -> Option<Twin> {
    let estimate = Estimate::of(rounds)?;
    let interval = estimate.interval(Confidence::SHOWN)?;
    Some(Twin {
        value_ns: estimate.value(),
        ci95_ns: [interval.low, interval.high],
        rounds_ns: rounds.iter().filter_map(|times| interquartile_mean(times)).collect(),
    })
}

/// How far a machine drifted between two runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drift {
    /// What the candidate's twin took over what the baseline's did.
    pub factor: f64,
    /// The standard error of its logarithm, by how the rounds of either twin differ.
    error: f64,
}

impl Drift {
    /// `None` where it is not known: a twin has no rounds, or a figure that is not above zero.
    pub fn between(baseline: &Twin, candidate: &Twin) -> Option<Drift> {
        let of_rounds = |twin: &Twin| Estimate::of(&twin.rounds_ns.chunks(1).collect::<Vec<_>>());
        let (before, after) = (of_rounds(baseline)?, of_rounds(candidate)?);
        let factor = after.value() / before.value();
        let is_known = before.value() > 0.0 && after.value() > 0.0 && factor.is_normal();
        is_known.then(|| Drift {
            factor,
            error: (before.variance(Level::Workers) + after.variance(Level::Workers)).sqrt(),
        })
    }

    /// How far a machine drifted beside the cases of two runs, either way: the median, as a
    /// logarithm. Zero where there are none.
    pub fn typical(drifts: &[Drift]) -> f64 {
        median(&drifts.iter().map(|drift| drift.log().abs()).collect::<Vec<_>>()).unwrap_or(0.0)
    }

    fn log(self) -> f64 {
        self.factor.ln()
    }
}

impl Ratio {
    /// This ratio over what the machine drifted meanwhile; it drifted beside other cases of the
    /// same runs by what is `typical`.
    ///
    /// Kernels do not slow down as a twin does, so the drift is an error of the ratio as well: as
    /// large as what the case's own twin drifted, its standard error and what is typical are
    /// together. The interval reaches as far as that of the figures and that error do together, and
    /// always takes in the ratio as it was measured.
    pub fn relative_to(self, drift: Drift, typical: f64) -> Ratio {
        let drifted = drift.log().hypot(drift.error).hypot(typical);
        let reach = self.reach().hypot(DOUBT * drifted * (1.0 + GROWTH * drifted));
        Ratio::around(self.estimate / drift.factor, reach, 0.0, 1.0)
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
        Ratio::around(estimate, reach, 0.0, 1.0)
    }

    #[test]
    fn a_twin_has_the_figure_that_a_case_of_the_same_times_would_have() {
        let rounds: [&[f64]; 3] = [&[100.0, 101.0, 110.0, 99.0], &[], &[120.0, 119.0]];
        let (twin, case) = (twin(&rounds).unwrap(), crate::summary(&rounds).unwrap());
        assert_eq!((twin.value_ns, twin.ci95_ns), (case.value, case.ci95));
        assert_eq!(twin.rounds_ns, [100.5, 119.5]);
    }

    #[test]
    fn no_times_and_broken_ones_are_no_twin() {
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
    fn rounds_that_differ_say_less_of_the_machine() {
        let [steady, restless] = [1.0, 10.0].map(|spread| {
            let run = [100.0 - spread, 100.0, 100.0 + spread];
            between(&run, &run).error
        });
        assert!(restless > 9.0 * steady, "{restless} and {steady}");
    }

    #[test]
    fn a_twin_without_times_above_zero_says_nothing() {
        let fine = of_rounds(&[100.0, 101.0]);
        let silent = Twin {
            rounds_ns: Vec::new(),
            ..fine.clone()
        };
        let (least, most) = (of_rounds(&[f64::MIN_POSITIVE; 2]), of_rounds(&[f64::MAX / 4.0; 2]));
        assert_eq!(Drift::between(&least, &most), None, "no number says how far");
        for broken in [of_rounds(&[0.0, 0.0]), of_rounds(&[-1.0, -1.0]), silent] {
            assert_eq!(Drift::between(&fine, &broken), None);
            assert_eq!(Drift::between(&broken, &fine), None);
        }
    }

    #[test]
    fn a_change_that_the_machine_may_have_made_is_none() {
        let leaves_out_one = |measured: f64, factor: f64, typical: f64| {
            let relative = ratio(measured, 0.01).relative_to(drifted(factor, 0.005), typical);
            relative.interval.low > 1.0 || relative.interval.high < 1.0
        };
        assert!(leaves_out_one(1.1, 1.0, 0.0));
        assert!(leaves_out_one(1.1, 1.02, 0.02));
        assert!(!leaves_out_one(1.1, 1.1, 0.0), "all of it may be the machine's");
        assert!(!leaves_out_one(1.0, 1.1, 0.0), "the kernel may not feel the machine");
        assert!(!leaves_out_one(1.1, 1.04, 0.02), "it may feel it more than the twin");
        assert!(!leaves_out_one(1.1, 1.0, 0.1), "its own twin may have been lucky");
    }

    #[test]
    fn what_is_typical_is_the_median_of_drifts_either_way() {
        let drifts = [0.8, 1.1, 1.0].map(|factor| drifted(factor, 0.0));
        assert!((Drift::typical(&drifts) - 1.1f64.ln()).abs() < 1e-12);
        assert_eq!(Drift::typical(&[]), 0.0);
    }

    proptest! {
        #[test]
        fn the_interval_holds_the_ratio_as_measured_and_that_beside_the_twin(
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
