//! Intervals, and the interval of a median by order statistics.

/// A closed interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end, not below the lower end.
    pub high: f64,
}

impl Interval {
    /// Returns the larger of the two distances from `center` to the ends.
    pub fn reach_from(&self, center: f64) -> f64 {
        (self.high - center).max(center - self.low)
    }
}

/// Returns the 95 % interval of the median between two order statistics (H. A. David and H. N.
/// Nagaraja, "Order Statistics", 2003, section 7.1). It makes no assumption about the distribution,
/// and is conservative and cheap. `None` for fewer than six samples, for which there is no such
/// interval. The samples must be ascending and finite.
pub(super) fn order_statistic_interval(sorted: &[f64]) -> Option<Interval> {
    let rank = lower_rank(sorted.len())?;
    Some(Interval {
        low: sorted[rank],
        high: sorted[sorted.len() - 1 - rank],
    })
}

/// Returns the largest rank `r`, from 0, such that with a probability of at most 2.5 %, at most `r`
/// of `n` samples lie below the true median.
fn lower_rank(n: usize) -> Option<usize> {
    // Beyond this number, 2^-n is not a normal number, and the normal approximation is accurate to
    // a fraction of a rank.
    const EXACT: usize = 1_000;
    if n > EXACT {
        let half_width = 1.959_964 * (n as f64).sqrt() / 2.0;
        return Some((n as f64 / 2.0 - half_width - 0.5).floor() as usize);
    }
    let mut probability = 0.5f64.powi(n as i32);
    let mut cumulative = 0.0;
    let mut rank = None;
    for successes in 0..n {
        cumulative += probability;
        if cumulative > 0.025 {
            break;
        }
        rank = Some(successes);
        probability *= (n - successes) as f64 / (successes + 1) as f64;
    }
    rank
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::quantile::sorted;

    fn interval_of(samples: &[f64]) -> Option<Interval> {
        order_statistic_interval(&sorted(samples)?)
    }

    /// Returns seeded normal deviates by the Box-Muller method.
    fn normal(random: &mut fastrand::Rng, n: usize, mean: f64, stddev: f64) -> Vec<f64> {
        (0..n)
            .map(|_| {
                let radius = (-2.0 * (1.0 - random.f64()).ln()).sqrt();
                mean + stddev * radius * (std::f64::consts::TAU * random.f64()).cos()
            })
            .collect()
    }

    /// Returns how many of 400 seeded sets of `n` samples have an interval that contains the true
    /// median.
    fn covered_of_400(n: usize, interval: impl Fn(&[f64]) -> Option<Interval>) -> usize {
        let mut random = fastrand::Rng::with_seed(7);
        (0..400)
            .filter(|_| {
                let samples = normal(&mut random, n, 100.0, 5.0);
                let interval = interval(&samples).unwrap();
                interval.low <= 100.0 && 100.0 <= interval.high
            })
            .count()
    }

    #[test]
    fn ranks_match_the_published_tables() {
        // From the classical table of nonparametric intervals of the median: n = 6 is the first,
        // then ranks 2 of 10, 6 of 20 and 40 of 100, counted from 1.
        assert_eq!(lower_rank(5), None);
        assert_eq!(lower_rank(6), Some(0));
        assert_eq!(lower_rank(10), Some(1));
        assert_eq!(lower_rank(20), Some(5));
        assert_eq!(lower_rank(100), Some(39));
    }

    #[test]
    fn the_reach_of_an_interval_is_that_of_its_farther_end() {
        let interval = Interval { low: 1.0, high: 4.0 };
        assert_eq!(interval.reach_from(2.0), 2.0);
        assert_eq!(interval.reach_from(3.5), 2.5);
        assert_eq!(interval.reach_from(1.0), 3.0);
    }

    #[test]
    fn exact_and_approximate_ranks_meet() {
        let (exact, approximate) = (lower_rank(1_000).unwrap(), lower_rank(1_001).unwrap());
        assert!(exact.abs_diff(approximate) <= 1, "{exact} {approximate}");
    }

    #[test]
    fn approximate_ranks_are_those_of_the_binomial_distribution_to_within_a_fraction_of_a_rank() {
        for n in [1_001, 1_500, 2_000, 5_000, 20_000] {
            let ln_gamma = crate::student::ln_gamma;
            let probability = |successes: usize| {
                let [n, k] = [n as f64, successes as f64];
                (ln_gamma(n + 1.0) - ln_gamma(k + 1.0) - ln_gamma(n - k + 1.0) - n * 2f64.ln()).exp()
            };
            let rank = lower_rank(n).unwrap();
            let up_to = |last| (0..=last).map(probability).sum::<f64>();
            assert!(up_to(rank) < 0.025 + probability(rank) / 5.0, "{n}");
            assert!(up_to(rank + 1) > 0.025 - probability(rank) / 5.0, "{n}");
        }
    }

    #[test]
    fn the_interval_covers_the_median_at_least_95_times_in_100() {
        let covered = covered_of_400(41, interval_of);
        assert!((376..=400).contains(&covered), "{covered} of 400");
    }

    #[test]
    fn few_samples_and_samples_that_are_not_finite_have_no_interval() {
        assert_eq!(interval_of(&[1.0; 5]), None);
        assert_eq!(interval_of(&[1.0, 2.0, 3.0, 4.0, 5.0, f64::NAN]), None);
    }

    proptest! {
        #[test]
        fn intervals_are_ordered_and_among_the_samples(samples in prop::collection::vec(0.0..1e9f64, 6..60)) {
            let sorted = sorted(&samples).unwrap();
            let interval = interval_of(&samples).unwrap();
            prop_assert!(sorted[0] <= interval.low && interval.low <= interval.high);
            prop_assert!(interval.high <= sorted[sorted.len() - 1]);
        }
    }
}
