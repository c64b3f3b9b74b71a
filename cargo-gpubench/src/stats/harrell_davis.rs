//! The median as a weighted mean of all samples.

use super::quantile::sorted;

/// Where the weights are looked for, in standard deviations from the middle: beyond, all of them together are below 1e-14.
const WIDEST: f64 = 8.0;

/// Points and weights by which a smooth function is integrated over -1 to 1: Gauss and Legendre, five points (M. Abramowitz and I. Stegun, "Handbook of Mathematical Functions", 1964, table 25.4).
const POINTS: [(f64, f64); 5] = [
    (-0.906_179_845_938_664, 0.236_926_885_056_189),
    (-0.538_469_310_105_683, 0.478_628_670_499_366),
    (0.0, 0.568_888_888_888_889),
    (0.538_469_310_105_683, 0.478_628_670_499_366),
    (0.906_179_845_938_664, 0.236_926_885_056_189),
];

/// The part of the distribution, on either side, whose samples have no weight.
const LEFT_OUT: f64 = 0.25;

/// The median by the estimator of F. E. Harrell and C. E. Davis, "A new distribution-free quantile estimator", Biometrika 69 (1982), between the quartiles alone: of all samples it is the mean of the medians of all
/// resamples, to which an outlier among few samples contributes too much (A. Akinshin, "Trimmed Harrell-Davis quantile estimator based on the highest density interval of the given width", Communications in
/// Statistics: Simulation and Computation 53 (2024)). `None` where there are no samples or one is not finite.
///
/// The middle sample alone jumps from one step of a clock to the next, and from one mode of the samples to another, when half of them lie on either side. The weighted mean of the samples round the middle
/// moves as their shares do.
pub fn harrell_davis(samples: &[f64]) -> Option<f64> {
    let sorted = sorted(samples)?;
    Some(weighted(&sorted, &weights(sorted.len())))
}

/// The mean of ascending samples by the weights of their number, never outside of the samples.
pub(super) fn weighted(sorted: &[f64], weights: &Weights) -> f64 {
    let Some((first, last)) = sorted.first().zip(sorted.last()) else {
        return f64::NAN;
    };
    let samples = &sorted[weights.first..][..weights.of.len()];
    let mean: f64 = samples
        .iter()
        .zip(&weights.of)
        .map(|(sample, weight)| sample * weight)
        .sum();
    mean.clamp(*first, *last)
}

/// The weights of so many ascending samples: those before `first` and behind the last one here weigh nothing.
#[derive(Clone, Debug)]
pub(super) struct Weights {
    first: usize,
    of: Vec<f64>,
}

/// The sample of rank i, from 1, weighs what the beta distribution with both parameters (n + 1) / 2 has between (i - 1) / n and i / n, as far as that lies between the quartiles.
pub(super) fn weights(n: usize) -> Weights {
    let number = n as f64;
    let deviation = 0.5 / (number + 2.0).sqrt();
    let reach = (WIDEST * deviation * number).ceil() as usize;
    let first = (n / 2).saturating_sub(reach).max((LEFT_OUT * number) as usize);
    let last = (n / 2 + 1 + reach).min(((1.0 - LEFT_OUT) * number).ceil() as usize);
    // Relative to the density in the middle, whose logarithm would leave the range of a number.
    let density = |x: f64| ((number - 1.0) / 2.0 * (4.0 * x * (1.0 - x)).ln()).exp();
    let between = |rank: usize| -> f64 {
        let low = (rank as f64 / number).max(LEFT_OUT);
        let high = ((rank as f64 + 1.0) / number).min(1.0 - LEFT_OUT);
        let (middle, half) = ((low + high) / 2.0, (high - low) / 2.0);
        let heights = POINTS
            .iter()
            .map(|(point, weight)| weight * density(middle + point * half));
        half * heights.sum::<f64>()
    };
    let areas: Vec<f64> = (first..last).map(between).collect();
    let total: f64 = areas.iter().sum();
    Weights {
        first,
        of: areas.iter().map(|area| area / total).collect(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::stats::median;
    use crate::stats::student::incomplete_beta;

    #[test]
    fn weights_are_those_of_the_beta_distribution_between_the_quartiles() {
        for n in [1, 2, 3, 4, 5, 8, 21, 110, 600] {
            let Weights { first, of } = weights(n);
            let parameter = (n as f64 + 1.0) / 2.0;
            let up_to = |x: f64| incomplete_beta(x.clamp(0.25, 0.75), parameter, parameter);
            let all = up_to(1.0) - up_to(0.0);
            for rank in 0..n {
                let (low, high) = (rank as f64 / n as f64, (rank as f64 + 1.0) / n as f64);
                let exact = (up_to(high) - up_to(low)) / all;
                let position = rank.checked_sub(first);
                let weight = position.and_then(|position| of.get(position)).copied().unwrap_or(0.0);
                assert!((weight - exact).abs() < 1e-9, "{rank} of {n}: {weight} is not {exact}");
            }
            assert!((of.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{n}");
        }
    }

    #[test]
    fn a_million_samples_need_the_weights_round_the_middle_alone() {
        let weights = weights(1_000_000);
        assert!(weights.of.len() < 10_000, "{}", weights.of.len());
        assert_eq!(weights.first + weights.of.len() / 2, 500_000);
    }

    /// Standard deviations over 400 seeded sets of 20 samples in two modes 160 apart, as a front end that polls gives them: of the middle sample, and of the estimator.
    fn spread_of_two_modes() -> [f64; 2] {
        let mut random = fastrand::Rng::with_seed(3);
        let sets: Vec<Vec<f64>> = (0..400)
            .map(|_| {
                (0..20)
                    .map(|_| if random.f64() < 0.5 { 3_376.0 } else { 3_536.0 })
                    .collect()
            })
            .collect();
        [median as fn(&[f64]) -> Option<f64>, harrell_davis].map(|estimator| {
            let of_sets: Vec<f64> = sets.iter().filter_map(|set| estimator(set)).collect();
            let mean = of_sets.iter().sum::<f64>() / 400.0;
            (of_sets.iter().map(|of_set| (of_set - mean).powi(2)).sum::<f64>() / 399.0).sqrt()
        })
    }

    #[test]
    fn it_does_not_jump_between_modes_as_the_middle_sample_does() {
        let [middle, estimator] = spread_of_two_modes();
        assert!(estimator < 0.75 * middle, "{estimator} and {middle}");
    }

    #[test]
    fn a_quarter_of_the_samples_may_be_outliers() {
        for n in [4, 5, 8, 20] {
            let mut samples = vec![100.0; n];
            samples[..n / 4].fill(1e9);
            assert!((harrell_davis(&samples).unwrap() - 100.0).abs() < 1e-9, "{n}");
        }
    }

    #[test]
    fn no_samples_and_samples_that_are_not_finite_have_none() {
        assert_eq!(harrell_davis(&[]), None);
        assert_eq!(harrell_davis(&[1.0, f64::NAN]), None);
        assert_eq!(harrell_davis(&[f64::MAX; 3]), Some(f64::MAX));
    }

    proptest! {
        #[test]
        fn it_lies_among_the_samples_and_does_not_depend_on_their_order(mut samples in prop::collection::vec(0.0..1e12f64, 1..60)) {
            let estimate = harrell_davis(&samples).unwrap();
            samples.reverse();
            prop_assert_eq!(harrell_davis(&samples).unwrap(), estimate);
            samples.sort_unstable_by(f64::total_cmp);
            prop_assert!(samples[0] <= estimate && estimate <= samples[samples.len() - 1]);
            prop_assert!(samples.len() > 3 || (estimate - median(&samples).unwrap()).abs() <= 0.5 * (samples[samples.len() - 1] - samples[0]));
        }
    }
}
