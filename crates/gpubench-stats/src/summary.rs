//! Summary statistics of a case.

use super::comparison::Confidence;
use super::estimate::Estimate;
use super::interquartile_mean::interquartile_mean;
use super::moments::Moments;
use super::quantile::{quantile, sorted};
use gpubench_contract::{Stats, WorkerShare};

/// Computes the statistics of a case from the samples of its workers. Workers without samples do
/// not count. `None` if there are no samples, or if one of them or the interval is not finite.
pub fn summary(workers: &[&[f64]]) -> Option<Stats> {
    let samples = workers.concat();
    let sorted = sorted(&samples)?;
    let moments = Moments::from_samples(&samples);
    let estimate = Estimate::from_workers(workers)?;
    let interval = estimate.interval(Confidence::SHOWN)?;
    Some(Stats {
        n: samples.len() as u64,
        value: estimate.value(),
        ci95: (samples.len() > 1).then_some([interval.low, interval.high]),
        median: quantile(&sorted, 0.5)?,
        mean: moments.mean()?,
        stddev: moments.stddev(),
        cv: moments.cv(),
        min: *sorted.first()?,
        max: *sorted.last()?,
        q1: quantile(&sorted, 0.25)?,
        q3: quantile(&sorted, 0.75)?,
    })
}

/// Returns the record of a worker with these samples, which does not say where its buffers lay.
pub fn worker_share(samples: &[f64]) -> WorkerShare {
    WorkerShare {
        samples: samples.len() as u64,
        value: interquartile_mean(samples),
        placements: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn no_samples_and_samples_that_are_not_finite_have_no_summary() {
        assert_eq!(summary(&[]), None);
        assert_eq!(summary(&[&[]]), None);
        assert_eq!(summary(&[&[1.0, f64::NAN]]), None);
        assert_eq!(summary(&[&[f64::INFINITY]]), None);
    }

    #[test]
    fn one_sample_has_a_value_and_no_spread() {
        let stats = summary(&[&[7.0]]).unwrap();
        assert_eq!((stats.n, stats.value, stats.median, stats.mean), (1, 7.0, 7.0, 7.0));
        assert_eq!((stats.min, stats.max, stats.q1, stats.q3), (7.0, 7.0, 7.0, 7.0));
        assert_eq!((stats.stddev, stats.cv, stats.ci95), (None, None, None));
    }

    #[test]
    fn zeros_have_no_coefficient_of_variation() {
        let stats = summary(&[&[0.0; 30]]).unwrap();
        assert_eq!((stats.value, stats.stddev, stats.cv), (0.0, Some(0.0), None));
        assert_eq!(stats.relative_interval(), None);
    }

    #[test]
    fn the_median_is_that_of_all_samples() {
        let stats = summary(&[&[1.0, 2.0, 9.0], &[100.0]]).unwrap();
        assert_eq!(stats.median, 5.5);
        assert!((stats.value - 51.5).abs() < 1e-9, "{}", stats.value);
    }

    #[test]
    fn the_interval_reflects_the_spread_among_workers() {
        let of_workers = |values: [f64; 3]| summary(&values.each_ref().map(std::slice::from_ref)).unwrap();
        assert_eq!(of_workers([100.0; 3]).relative_interval(), Some(0.0));
        // Student's t with 2 degrees of freedom is 4.303, and 5 / √3 is 2.887.
        let differing = of_workers([95.0, 100.0, 105.0]).relative_interval().unwrap();
        assert!((differing - 0.1242).abs() < 1e-4, "{differing}");
    }

    #[test]
    fn every_figure_of_a_summary_is_that_of_its_name() {
        let stats = summary(&[&[1.0, 2.0, 4.0, 8.0, 16.0]]).unwrap();
        assert_eq!((stats.n, stats.min, stats.q1, stats.median), (5, 1.0, 2.0, 4.0));
        assert_eq!((stats.q3, stats.max, stats.mean), (8.0, 16.0, 6.2));
        assert!((stats.stddev.unwrap().powi(2) - 37.2).abs() < 1e-9, "{stats:?}");
        assert!((stats.cv.unwrap() - 37.2f64.sqrt() / 6.2).abs() < 1e-9, "{stats:?}");
        assert_eq!(stats.value, interquartile_mean(&[1.0, 2.0, 4.0, 8.0, 16.0]).unwrap());
    }

    #[test]
    fn the_share_of_a_worker_has_the_mean_between_its_quartiles() {
        let share = worker_share(&[1.0, 2.0, 3.0, 10.0, 10.0, 100.0, 200.0, 300.0]);
        assert_eq!((share.samples, share.value), (8, Some(30.75)));
        assert_eq!((worker_share(&[]).samples, worker_share(&[]).value), (0, None));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn the_numbers_of_a_summary_are_finite_and_in_order(samples in prop::collection::vec(0.0..1e12f64, 1..50)) {
            let stats = summary(&[&samples]).unwrap();
            prop_assert_eq!(stats.n, samples.len() as u64);
            for middle in [stats.median, stats.value] {
                let ascending = [stats.min, stats.q1, middle, stats.q3, stats.max];
                prop_assert!(ascending.is_sorted(), "{:?}", ascending);
            }
            prop_assert_eq!(stats.ci95.is_some(), samples.len() > 1);
            let [low, high] = stats.ci95.unwrap_or([stats.value; 2]);
            prop_assert!(low <= stats.value && stats.value <= high);
            prop_assert!(stats.min <= stats.mean * (1.0 + 1e-12) && stats.mean * (1.0 - 1e-12) <= stats.max);
            prop_assert!(stats.stddev.is_none_or(|stddev| stddev.is_finite() && stddev >= 0.0));
        }

        #[test]
        fn any_bit_patterns_give_a_finite_summary_or_none(bits in prop::collection::vec(any::<u64>(), 0..30)) {
            let samples: Vec<f64> = bits.into_iter().map(f64::from_bits).collect();
            if let Some(stats) = summary(&[&samples]) {
                let [low, high] = stats.ci95.unwrap_or_default();
                let numbers = [stats.value, stats.median, stats.mean, stats.q1, stats.q3, low, high];
                prop_assert!(numbers.iter().all(|number| number.is_finite()), "{:?}", stats);
            }
        }

        #[test]
        fn the_order_of_samples_does_not_change_ranks(mut samples in prop::collection::vec(0.0..1e9f64, 2..40)) {
            let before = summary(&[&samples]).unwrap();
            samples.reverse();
            let after = summary(&[&samples]).unwrap();
            prop_assert_eq!((before.median, before.value, before.ci95), (after.median, after.value, after.ci95));
        }
    }
}
