//! What a set of samples says, in a few numbers.

use super::case_median::{case_median, worker_medians};
use super::interval::{Interval, bootstrap_median};
use super::moments::Moments;
use super::quantile::{quantile, sorted};
use super::worker_interval::worker_interval;

/// A set of samples in a few numbers, in the samples' unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Number of samples, at least 1.
    pub n: usize,
    /// Median of the workers, see [`case_median`].
    pub median: f64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Standard deviation with `n - 1` in the denominator; `None` for a single sample.
    pub stddev: Option<f64>,
    /// Coefficient of variation; `None` for a single sample and where the mean is zero.
    pub cv: Option<f64>,
    /// Smallest sample.
    pub min: f64,
    /// Largest sample.
    pub max: f64,
    /// First quartile.
    pub q1: f64,
    /// Third quartile.
    pub q3: f64,
    /// 95 % interval of the median of these workers, see [`bootstrap_median`].
    pub ci95: Interval,
    /// 95 % interval of what other fresh workers would measure, see [`worker_interval`]; `None` for fewer than two workers.
    pub workers_ci95: Option<Interval>,
}

impl Summary {
    /// Sums the samples of one worker up; `None` where there are none or one of them is not finite.
    pub fn of(samples: &[f64]) -> Option<Summary> {
        Summary::of_workers(&[samples])
    }

    /// Sums the samples of several workers up; those without samples do not count. `None` where there are none at all or one of them is not finite.
    pub fn of_workers(workers: &[&[f64]]) -> Option<Summary> {
        let workers: Vec<&[f64]> = workers.iter().copied().filter(|samples| !samples.is_empty()).collect();
        let samples = workers.concat();
        let sorted = sorted(&samples)?;
        let moments = Moments::of(&samples);
        let of_workers: Vec<f64> = worker_medians(&workers).into_iter().flatten().collect();
        let median = case_median(&of_workers)?;
        let drawn = bootstrap_median(&workers)?;
        Some(Summary {
            n: samples.len(),
            median,
            mean: moments.mean()?,
            stddev: moments.stddev(),
            cv: moments.cv(),
            min: *sorted.first()?,
            max: *sorted.last()?,
            q1: quantile(&sorted, 0.25)?,
            q3: quantile(&sorted, 0.75)?,
            // Resamples of few samples need not reach their own mean.
            ci95: Interval {
                low: drawn.low.min(median),
                high: drawn.high.max(median),
            },
            workers_ci95: worker_interval(&of_workers),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn no_samples_and_samples_that_are_not_finite_have_no_summary() {
        assert_eq!(Summary::of(&[]), None);
        assert_eq!(Summary::of(&[1.0, f64::NAN]), None);
        assert_eq!(Summary::of(&[f64::INFINITY]), None);
    }

    #[test]
    fn one_sample_has_a_median_and_no_spread() {
        let summary = Summary::of(&[7.0]).unwrap();
        assert_eq!((summary.n, summary.median, summary.mean), (1, 7.0, 7.0));
        assert_eq!((summary.min, summary.max, summary.q1, summary.q3), (7.0, 7.0, 7.0, 7.0));
        assert_eq!((summary.stddev, summary.cv), (None, None));
        assert_eq!(summary.ci95, Interval { low: 7.0, high: 7.0 });
    }

    #[test]
    fn zeros_have_no_coefficient_of_variation() {
        let summary = Summary::of(&[0.0; 30]).unwrap();
        assert_eq!((summary.median, summary.stddev, summary.cv), (0.0, Some(0.0), None));
    }

    #[test]
    fn equal_samples_have_an_interval_of_no_width() {
        let summary = Summary::of(&[3.5; 30]).unwrap();
        assert_eq!(summary.cv, Some(0.0));
        assert_eq!(summary.ci95, Interval { low: 3.5, high: 3.5 });
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn the_numbers_of_a_summary_are_finite_and_in_order(samples in prop::collection::vec(0.0..1e12f64, 1..50)) {
            let summary = Summary::of(&samples).unwrap();
            prop_assert_eq!(summary.n, samples.len());
            let ascending = [summary.min, summary.q1, summary.median, summary.q3, summary.max];
            prop_assert!(ascending.is_sorted(), "{:?}", ascending);
            prop_assert!(summary.ci95.low <= summary.median && summary.median <= summary.ci95.high);
            prop_assert!(summary.min <= summary.mean * (1.0 + 1e-12) && summary.mean * (1.0 - 1e-12) <= summary.max);
            prop_assert!(summary.stddev.is_none_or(|stddev| stddev.is_finite() && stddev >= 0.0));
        }

        #[test]
        fn any_bit_patterns_give_a_finite_summary_or_none(bits in prop::collection::vec(any::<u64>(), 0..30)) {
            let samples: Vec<f64> = bits.into_iter().map(f64::from_bits).collect();
            if let Some(summary) = Summary::of(&samples) {
                let numbers = [summary.median, summary.mean, summary.q1, summary.q3, summary.ci95.low, summary.ci95.high];
                prop_assert!(numbers.iter().all(|number| number.is_finite()), "{:?}", summary);
            }
        }

        #[test]
        fn the_order_of_samples_does_not_change_ranks(mut samples in prop::collection::vec(0.0..1e9f64, 2..40)) {
            let before = Summary::of(&samples).unwrap();
            samples.reverse();
            let after = Summary::of(&samples).unwrap();
            prop_assert_eq!((before.median, before.q1, before.q3, before.ci95), (after.median, after.q1, after.q3, after.ci95));
        }
    }
}
