//! The median of samples, and how much that of a bootstrap resample varies, without drawing one.

use std::collections::HashMap;

use super::quantile::quantile;
use super::student::{incomplete_beta, ln_gamma};

/// Beyond this many samples the two middle ones count as one: they differ by nothing that shows, and the terms of an even number leave the range of a number.
const EVEN_UP_TO: usize = 1_000;

/// The distribution of a resample's median over the sorted samples, for each number of samples that has been asked for.
///
/// The median of `n` draws with replacement is one of the samples, or halfway between two: the one of rank `i` with a probability that depends on `n` and `i` alone. The
/// variance that a bootstrap approaches with ever more resamples is therefore a sum over the samples: J. S. Maritz and R. G. Jarrett, "A note on estimating the
/// variance of the sample median", Journal of the American Statistical Association 73 (1978).
#[derive(Debug, Default)]
pub struct ResampledMedians {
    laws: HashMap<usize, Law>,
}

/// With which probability each rank is the lower of the two middle draws, and what an even number needs beside it.
#[derive(Debug)]
struct Law {
    lower: Vec<f64>,
    middle: Middle,
}

#[derive(Debug)]
enum Middle {
    /// An odd number of draws has one in the middle.
    One,
    /// Of an even number the two in the middle are the ranks `i < j` with a probability of `from_below[i] * from_above[j]`.
    Two { from_below: Vec<f64>, from_above: Vec<f64> },
}

impl ResampledMedians {
    /// The variance of a resample's median relative to the square of the samples' own; zero for a single sample and for none, infinite where it is more than a number can be.
    ///
    /// The samples are ascending and above zero.
    pub fn relative_variance(&mut self, sorted: &[f64]) -> f64 {
        let Some(median) = quantile(sorted, 0.5).filter(|_| sorted.len() > 1) else {
            return 0.0;
        };
        let relative: Vec<f64> = sorted.iter().map(|sample| (sample - median) / median).collect();
        let law = self.laws.entry(sorted.len()).or_insert_with(|| Law::of(sorted.len()));
        let variance = law.variance(&relative);
        // Sums in which distances overflow are no numbers.
        if variance.is_nan() {
            f64::INFINITY
        } else {
            variance.max(0.0)
        }
    }
}

impl Law {
    fn of(n: usize) -> Law {
        // The lower of the two middle draws is the r-th, counted from one.
        let r = n.div_ceil(2);
        let up_to = |rank: usize| incomplete_beta(rank as f64 / n as f64, r as f64, (n - r + 1) as f64);
        let lower = differences(n, up_to);
        let middle = if n % 2 == 1 || n > EVEN_UP_TO {
            Middle::One
        } else {
            Middle::two(n)
        };
        Law { lower, middle }
    }

    fn variance(&self, x: &[f64]) -> f64 {
        let sum = |of: &dyn Fn(f64) -> f64| -> f64 { self.lower.iter().zip(x).map(|(p, x)| p * of(*x)).sum() };
        match &self.middle {
            Middle::One => {
                let mean = sum(&|x| x);
                sum(&|x| (x - mean) * (x - mean))
            }
            Middle::Two { from_below, from_above } => {
                // The upper one of the two is the lower one seen from the other end.
                let upper =
                    |of: &dyn Fn(f64) -> f64| -> f64 { self.lower.iter().rev().zip(x).map(|(p, x)| p * of(*x)).sum() };
                let mean = (sum(&|x| x) + upper(&|x| x)) / 2.0;
                let square = |x: f64| (x - mean) * (x - mean);
                let product = self.mean_product(from_below, from_above, x, mean);
                (sum(&square) + upper(&square) + 2.0 * product) / 4.0
            }
        }
    }

    /// The mean of the product of the two middle draws' distances from `mean`.
    fn mean_product(&self, from_below: &[f64], from_above: &[f64], x: &[f64], mean: f64) -> f64 {
        let (mut product, mut above, mut weighted_above) = (0.0, 0.0, 0.0);
        for (rank, x) in x.iter().enumerate().rev() {
            let x = x - mean;
            let same = self.lower[rank] - from_below[rank] * above;
            product += same * x * x + from_below[rank] * x * weighted_above;
            above += from_above[rank];
            weighted_above += from_above[rank] * x;
        }
        product
    }
}

impl Middle {
    /// Exactly half of the draws are of a rank up to `i` and none between `i` and `j`: C(n, n/2) (i/n)^(n/2) (1 - j/n)^(n/2), as differences in both.
    fn two(n: usize) -> Middle {
        let half = n as f64 / 2.0;
        let binomial = ln_gamma(n as f64 + 1.0) - 2.0 * ln_gamma(half + 1.0);
        let power = |rank: usize| (binomial / 2.0 + half * (rank as f64 / n as f64).ln()).exp();
        Middle::Two {
            from_below: differences(n, power),
            from_above: differences(n, power).into_iter().rev().collect(),
        }
    }
}

/// By how much a function of a rank, from 0 to `n`, grows with each.
fn differences(n: usize, of: impl Fn(usize) -> f64) -> Vec<f64> {
    let mut before = of(0);
    (1..=n)
        .map(|rank| {
            let here = of(rank);
            let step = here - before;
            before = here;
            step
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What 40 000 resamples say.
    fn by_drawing(sorted: &[f64]) -> f64 {
        let mut random = fastrand::Rng::with_seed(5);
        let medians: Vec<f64> = (0..40_000)
            .map(|_| {
                let mut draws: Vec<f64> = sorted.iter().map(|_| sorted[random.usize(..sorted.len())]).collect();
                draws.sort_unstable_by(f64::total_cmp);
                quantile(&draws, 0.5).unwrap()
            })
            .collect();
        let n = medians.len() as f64;
        let mean = medians.iter().sum::<f64>() / n;
        let median = quantile(sorted, 0.5).unwrap();
        medians.iter().map(|m| (m - mean) * (m - mean)).sum::<f64>() / n / (median * median)
    }

    #[test]
    fn the_variance_is_the_one_that_drawing_resamples_approaches() {
        for samples in [
            vec![90.0, 101.0],
            vec![95.0, 99.0, 104.0],
            vec![90.0, 97.0, 99.0, 102.0, 130.0, 160.0],
            vec![90.0, 97.0, 99.0, 100.0, 102.0, 130.0, 160.0],
            (0..30).map(|i| 100.0 + f64::from(i * i)).collect(),
            (0..31)
                .map(|i| 100.0 + f64::from(i % 7))
                .scan(0.0, |sum, x| {
                    *sum += x;
                    Some(*sum)
                })
                .collect(),
        ] {
            let exact = ResampledMedians::default().relative_variance(&samples);
            let drawn = by_drawing(&samples);
            assert!(
                (exact / drawn - 1.0).abs() < 0.04,
                "{exact} is not {drawn}: {samples:?}"
            );
        }
    }

    #[test]
    fn two_draws_of_two_samples_have_the_variance_of_their_mean() {
        let variance = ResampledMedians::default().relative_variance(&[99.0, 101.0]);
        assert!((variance - 0.5e-4).abs() < 1e-15, "{variance}");
    }

    #[test]
    fn one_sample_and_equal_samples_do_not_vary() {
        let mut medians = ResampledMedians::default();
        assert_eq!(medians.relative_variance(&[]), 0.0);
        assert_eq!(medians.relative_variance(&[3.0]), 0.0);
        assert_eq!(medians.relative_variance(&[3.0; 12]), 0.0);
    }

    #[test]
    fn large_numbers_of_samples_meet_the_limit_of_a_uniform_distribution() {
        // Asymptotically 1 / (4 n f²) with a density f of 1 / width.
        for n in [999, 1_000, 1_001, 5_000] {
            let samples: Vec<f64> = (0..n).map(|i| 100.0 + f64::from(i) / f64::from(n)).collect();
            let expected = 1.0 / (4.0 * f64::from(n)) / (100.5 * 100.5);
            let variance = ResampledMedians::default().relative_variance(&samples);
            assert!((variance / expected - 1.0).abs() < 0.02, "{n}: {variance} {expected}");
        }
    }

    proptest! {
        #[test]
        fn a_variance_is_finite_and_does_not_depend_on_the_unit(mut samples in prop::collection::vec(1.0..1e6f64, 1..50)) {
            samples.sort_unstable_by(f64::total_cmp);
            let mut medians = ResampledMedians::default();
            let variance = medians.relative_variance(&samples);
            prop_assert!(variance.is_finite() && variance >= 0.0);
            let scaled: Vec<f64> = samples.iter().map(|sample| sample * 1024.0).collect();
            let again = medians.relative_variance(&scaled);
            prop_assert!((again - variance).abs() <= 1e-9 * variance, "{} {}", again, variance);
        }
    }
}
