//! The interquartile mean, a robust center of samples that lie in modes.

use super::moments::Moments;
use super::quantile::sorted;

/// Returns the mean of the samples between the quartiles, which is the value of a worker. It is the
/// trimmed mean with a quarter trimmed at each end (J. W. Tukey and D. H. McLaughlin, "Less
/// vulnerable confidence and significance procedures for location based on a single sample",
/// Sankhyā A 25 (1963)). A sample on a quartile counts in part. `None` if there are no samples or
/// one is not finite.
///
/// If half of the samples lie on either side of a clock step or of a gap between modes, the median
/// jumps from one to the other. This mean moves gradually with their shares. Like the median, it is
/// not affected by a quarter of outliers.
pub fn interquartile_mean(samples: &[f64]) -> Option<f64> {
    Some(mean_between_quartiles(&sorted(samples)?))
}

/// Returns the [`interquartile_mean`] of ascending, finite samples. There must be at least one.
pub(super) fn mean_between_quartiles(sorted: &[f64]) -> f64 {
    let n = sorted.len() as f64;
    let (low, high) = (0.25 * n, 0.75 * n);
    let part = 1.0 / (high - low);
    let (first, last) = (low.floor() as usize, (high.ceil() as usize).clamp(1, sorted.len()));
    let inside = |position: usize| (position as f64 + 1.0).min(high) - (position as f64).max(low);
    // Each term is scaled first, so that the sum of large samples stays finite.
    let mean: f64 = (first..last)
        .map(|position| sorted[position] * (inside(position) * part))
        .sum();
    // Rounding must not move the mean out of the samples' range.
    mean.clamp(sorted[first], sorted[last - 1])
}

/// Returns the variance of the interquartile mean of ascending samples, relative to the square of
/// `scale`. It is the winsorized variance: trimmed samples are moved to the ends of the others (J.
/// W. Tukey and D. H. McLaughlin; K. K. Yuen, "The two-sample trimmed t for unequal population
/// variances", Biometrika 61 (1974)). Zero for a single sample and for none.
pub(super) fn variance_of_mean(sorted: &[f64], scale: f64) -> f64 {
    let trimmed = sorted.len() / 4;
    let kept = &sorted[trimmed..sorted.len() - trimmed];
    let (Some(least), Some(most)) = (kept.first(), kept.last()) else {
        return 0.0;
    };
    let center = mean_between_quartiles(sorted) / scale;
    let number = kept.len() as f64;
    let moved = sorted.iter().map(|sample| sample.clamp(*least, *most) / scale - center);
    let all = Moments::from_samples(&moved.collect::<Vec<_>>());
    let stddev = if sorted.len() < 2 {
        0.0
    } else {
        all.stddev().unwrap_or(f64::INFINITY)
    };
    stddev.powi(2) * (sorted.len() as f64 - 1.0) / (number * (number - 1.0)).max(1.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::median;

    #[test]
    fn it_is_the_mean_of_the_middle_half() {
        assert_eq!(interquartile_mean(&[7.0]), Some(7.0));
        assert_eq!(interquartile_mean(&[4.0, 2.0]), Some(3.0));
        assert_eq!(interquartile_mean(&[1.0, 2.0, 4.0]), Some((0.25 + 2.0 + 1.0) / 1.5));
        assert_eq!(interquartile_mean(&[1.0, 3.0, 4.0, 90.0]), Some(3.5));
        assert_eq!(interquartile_mean(&[0.0, 1.0, 2.0, 3.0, 5.0, 6.0, 7.0, 8.0]), Some(4.0));
    }

    /// Returns standard deviations of the median and of the mean over 400 seeded sets. Each has 20
    /// samples in two modes 160 apart, as a front end that polls produces them.
    fn spread_of_two_modes() -> [f64; 2] {
        let mut random = fastrand::Rng::with_seed(3);
        let sets: Vec<Vec<f64>> = (0..400)
            .map(|_| {
                (0..20)
                    .map(|_| if random.f64() < 0.5 { 3_376.0 } else { 3_536.0 })
                    .collect()
            })
            .collect();
        [median as fn(&[f64]) -> Option<f64>, interquartile_mean].map(|estimator| {
            let of_sets: Vec<f64> = sets.iter().filter_map(|set| estimator(set)).collect();
            let mean = of_sets.iter().sum::<f64>() / 400.0;
            (of_sets.iter().map(|of_set| (of_set - mean).powi(2)).sum::<f64>() / 399.0).sqrt()
        })
    }

    #[test]
    fn it_does_not_jump_between_modes_as_the_median_does() {
        let [middle, mean] = spread_of_two_modes();
        assert!(mean < 0.6 * middle, "{mean} and {middle}");
    }

    #[test]
    fn a_quarter_of_the_samples_may_be_outliers() {
        for n in [4, 5, 8, 20] {
            let mut samples = vec![100.0; n];
            samples[..n / 4].fill(1e9);
            assert!((interquartile_mean(&samples).unwrap() - 100.0).abs() < 1e-9, "{n}");
        }
    }

    #[test]
    fn no_samples_and_samples_that_are_not_finite_have_no_mean() {
        assert_eq!(interquartile_mean(&[]), None);
        assert_eq!(interquartile_mean(&[1.0, f64::NAN]), None);
        assert_eq!(interquartile_mean(&[f64::MAX; 3]), Some(f64::MAX));
    }

    /// Returns the variance over 10 000 resamples.
    fn bootstrap_variance(sorted: &[f64]) -> f64 {
        let mut random = fastrand::Rng::with_seed(5);
        let means: Vec<f64> = (0..10_000)
            .map(|_| {
                let draws: Vec<f64> = sorted.iter().map(|_| sorted[random.usize(..sorted.len())]).collect();
                interquartile_mean(&draws).unwrap() / mean_between_quartiles(sorted)
            })
            .collect();
        Moments::from_samples(&means).stddev().unwrap().powi(2)
    }

    #[test]
    fn the_variance_approximates_that_of_a_bootstrap() {
        let in_modes = |n: usize| (0..n).map(move |i| if i * 10 < n * 7 { 3_376.0 } else { 3_536.0 });
        for samples in [
            (0..40).map(|i| 100.0 + f64::from(i)).collect::<Vec<_>>(),
            (0..40).map(|i| 100.0 + f64::from(i * i) / 10.0).collect(),
            in_modes(20).collect(),
            in_modes(100).collect(),
            in_modes(200).collect(),
        ] {
            let (variance, drawn) = (
                variance_of_mean(&samples, mean_between_quartiles(&samples)),
                bootstrap_variance(&samples),
            );
            assert!(
                (0.8..2.0).contains(&(variance / drawn)),
                "{variance} is not {drawn}: {samples:?}"
            );
        }
    }

    #[test]
    fn one_sample_and_equal_samples_do_not_vary() {
        for equal in [&[][..], &[3.0], &[3.0; 12]] {
            assert_eq!(variance_of_mean(equal, 3.0), 0.0);
        }
        assert!((variance_of_mean(&[1.0, 3.0], 2.0) - 0.25).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn a_variance_does_not_depend_on_the_unit(mut samples in prop::collection::vec(1.0..1e6f64, 1..50)) {
            samples.sort_unstable_by(f64::total_cmp);
            let variance = variance_of_mean(&samples, mean_between_quartiles(&samples));
            prop_assert!(variance.is_finite() && variance >= 0.0);
            let scaled: Vec<f64> = samples.iter().map(|sample| sample * 1024.0).collect();
            prop_assert!((variance_of_mean(&scaled, mean_between_quartiles(&scaled)) - variance).abs() <= 1e-9 * variance);
        }

        #[test]
        fn it_lies_among_the_samples_and_does_not_depend_on_their_order(mut samples in prop::collection::vec(0.0..1e12f64, 1..60)) {
            let mean = interquartile_mean(&samples).unwrap();
            samples.reverse();
            prop_assert_eq!(interquartile_mean(&samples).unwrap(), mean);
            samples.sort_unstable_by(f64::total_cmp);
            prop_assert!(samples[0] <= mean && mean <= samples[samples.len() - 1]);
        }
    }
}
