//! How many of some trials come out one way: the binomial distribution where the share is known, and the beta-binomial one where other trials are all that is known of it.

/// What is thought of the share before any trial is seen: as if there had been so many, with half of one that came out so. For windows that are too long: two in a thousand are on an H200 that is
/// left alone, and one in five while something disturbs it.
const BEFOREHAND: f64 = 25.0;
const SUCCESSES_BEFOREHAND: f64 = 0.5;

/// The chances of 0, 1, 2 … successes in so many trials, of which `share` below one are successes on average.
pub(super) fn binomial(trials: usize, share: f64) -> impl Iterator<Item = f64> {
    let none = trials as f64 * (1.0 - share).ln();
    chances(none, trials, move |successes| {
        (trials - successes) as f64 / (successes + 1) as f64 * share / (1.0 - share)
    })
}

/// The same, where all that is known of the share is that `seen_successes` of `seen` other trials were successes.
pub(super) fn beta_binomial(trials: usize, seen: usize, seen_successes: usize) -> impl Iterator<Item = f64> {
    let successes = SUCCESSES_BEFOREHAND + seen_successes as f64;
    let failures = BEFOREHAND - SUCCESSES_BEFOREHAND + (seen - seen_successes) as f64;
    let failure = |trial: usize| (failures + trial as f64) / (successes + failures + trial as f64);
    let none = (0..trials).map(|trial| failure(trial).ln()).sum();
    chances(none, trials, move |number| {
        let others = (trials - number) as f64;
        others / (number + 1) as f64 * (successes + number as f64) / (failures + others - 1.0)
    })
}

/// Chances from the logarithm of that of 0, and the ratio of that of the next number to that of a number: the chances themselves may be smaller than any number.
fn chances(none: f64, trials: usize, ratio: impl Fn(usize) -> f64) -> impl Iterator<Item = f64> {
    (0..=trials).scan(none, move |logarithm, number| {
        let chance = logarithm.exp();
        *logarithm += ratio(number).ln();
        Some(chance)
    })
}

/// The smallest number that is exceeded with a chance of at most 1 - `p`.
pub(super) fn quantile_of_counts(chances: impl Iterator<Item = f64>, p: f64) -> usize {
    let covered = chances.scan(0.0, |sum, chance| {
        *sum += chance;
        Some(*sum)
    });
    covered.take_while(|covered| *covered < p).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RARE: f64 = 1.0 - 1e-4;

    #[test]
    fn a_number_is_exceeded_as_seldom_as_the_binomial_distribution_says() {
        assert_eq!(quantile_of_counts(binomial(100, 0.02), RARE), 9);
        assert_eq!(quantile_of_counts(binomial(30, 0.02), RARE), 5);
        assert_eq!(quantile_of_counts(binomial(4, 0.5), 0.9), 3);
        let many = quantile_of_counts(binomial(100_000, 0.02), RARE);
        assert!((2_150..2_180).contains(&many), "{many}");
    }

    #[test]
    fn chances_are_those_of_their_distribution() {
        let mean = |chances: Vec<f64>| -> f64 {
            chances
                .iter()
                .zip(0..)
                .map(|(chance, number)| chance * f64::from(number))
                .sum()
        };
        for (chances, expected) in [
            (binomial(100, 0.02).collect::<Vec<_>>(), 2.0),
            (beta_binomial(100, 60, 5).collect(), 100.0 * 5.5 / 85.0),
            (beta_binomial(3, 6, 6).collect(), 3.0 * 6.5 / 31.0),
        ] {
            assert!((chances.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{chances:?}");
            assert!((mean(chances) - expected).abs() < 1e-6);
        }
    }

    #[test]
    fn the_more_successes_were_seen_and_the_fewer_trials_the_more_there_may_be() {
        let most = |seen, successes| quantile_of_counts(beta_binomial(100, seen, successes), RARE);
        assert_eq!([0, 1, 5, 60].map(|successes| most(60, successes)), [12, 16, 26, 92]);
        assert!(most(6, 0) > most(60, 0) && most(60, 0) > most(600, 0));
        let many = quantile_of_counts(beta_binomial(100_000, 10_000, 2_000), RARE);
        assert!((20_000..22_000).contains(&many), "{many}");
    }
}
