//! The ratio of two alternating sides. Drift affects both sides alike and cancels.

use super::comparison::{Confidence, FEWEST_WORKERS, Ratio, reach_of_step};
use super::estimate::MOST_FREEDOM;
use super::log_ratio::LogRatio;
use super::quantile::{median, quantile, sorted};

/// Rounds of two fresh workers that alternate: the log ratio of the candidate in each round, and
/// its spread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Paired {
    rounds: usize,
    /// Median log ratio of neighbouring samples, as a mean over the rounds.
    center: f64,
    /// Variance of these medians among the rounds.
    among_rounds: f64,
    /// Variance of such a median due to the noise of its samples, as a mean over the rounds.
    within_round: f64,
    /// Geometric mean of the workers' medians, of the side where it is smaller.
    smaller: f64,
}

impl Paired {
    /// Pairs the samples of each worker, in the order of measurement. Workers at the same position
    /// shared a round, and their samples at the same position are neighbours in time. Samples
    /// without a neighbour do not count, nor do rounds without samples.
    ///
    /// `None` if the sides have different numbers of workers, if fewer than [`FEWEST_WORKERS`]
    /// rounds count, or if a sample is not finite or not positive.
    pub fn new(baseline: &[&[f64]], candidate: &[&[f64]]) -> Option<Paired> {
        if baseline.len() != candidate.len() {
            return None;
        }
        let rounds = baseline.iter().zip(candidate);
        let rounds = rounds.filter(|(before, after)| !before.is_empty() && !after.is_empty());
        let rounds = rounds.map(|(before, after)| Round::new(before, after));
        let rounds: Vec<Round> = rounds.collect::<Option<_>>()?;
        if rounds.len() < FEWEST_WORKERS {
            return None;
        }
        let number = rounds.len() as f64;
        let mean = |value: fn(&Round) -> f64| mean(&rounds, value);
        let center = mean(|round| round.center);
        let squares: f64 = rounds.iter().map(|round| (round.center - center).powi(2)).sum();
        let smaller = mean(|round| round.baseline).min(mean(|round| round.candidate));
        Some(Paired {
            rounds: rounds.len(),
            center,
            among_rounds: squares / (number - 1.0),
            within_round: noise(&rounds)?,
            smaller: smaller.exp(),
        })
    }

    /// Returns the number of rounds that count.
    pub fn rounds(&self) -> usize {
        self.rounds
    }

    /// Returns the main reason for the width of the interval.
    pub fn wide_for(&self) -> Spread {
        if self.among_rounds > 2.0 * self.within_round {
            Spread::AmongRounds
        } else {
            Spread::WithinRounds
        }
    }

    /// Returns the geometric mean over the rounds of the median ratio of neighbouring samples, with
    /// the interval of a paired comparison. The interval is, on a logarithmic scale, the standard
    /// error of that mean, times Student's t, times 1.05. The degrees of freedom are one fewer than
    /// the rounds, but at most seven.
    ///
    /// Rounds are the independent repetitions, because the samples of a round share their processes
    /// (T. Kalibera and R. Jones, "Rigorous Benchmarking in Reasonable Time", ISMM 2013; A.
    /// Georges, D. Buytaert and L. Eeckhout, "Statistically Rigorous Java Performance Evaluation",
    /// OOPSLA 2007). If a few rounds agree by chance, their samples give the better error, so the
    /// larger of the two variances counts. The interval always contains a change of `step`, the
    /// resolution of the samples.
    pub fn ratio(&self, confidence: Confidence, step: f64) -> Ratio {
        self.log_ratio(step).ratio(confidence)
    }

    /// Returns the logarithm of the ratio with its error.
    pub fn log_ratio(&self, step: f64) -> LogRatio {
        let rounds = self.rounds as f64;
        LogRatio {
            center: self.center,
            variance: self.among_rounds.max(self.within_round) / rounds,
            freedom: (rounds - 1.0).min(MOST_FREEDOM),
            least_reach: reach_of_step(step, self.smaller),
        }
    }
}

/// The main source of variation in an alternating comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// Processes: the medians of the rounds differ by more than their samples explain.
    AmongRounds,
    /// The samples of each process.
    WithinRounds,
}

/// A round: one worker of each side, in logarithms.
struct Round {
    /// Median of the log ratios.
    center: f64,
    /// Log ratios of neighbouring samples, ascending.
    ratios: Vec<f64>,
    /// Median of each side's samples that have a neighbour.
    baseline: f64,
    candidate: f64,
}

impl Round {
    /// Pairs the samples of a round. `None` if a sample has no logarithm or none has a neighbour.
    fn new(baseline: &[f64], candidate: &[f64]) -> Option<Round> {
        let pairs = baseline.len().min(candidate.len());
        let (before, after) = (logarithms(&baseline[..pairs])?, logarithms(&candidate[..pairs])?);
        let ratios: Vec<f64> = before
            .iter()
            .zip(&after)
            .map(|(before, after)| after - before)
            .collect();
        let ratios = sorted(&ratios)?;
        Some(Round {
            center: quantile(&ratios, 0.5)?,
            ratios,
            baseline: median(&before)?,
            candidate: median(&after)?,
        })
    }
}

/// Returns the variance of the median of a round due to the noise of its samples, as a mean over
/// the rounds. It pools all ratios, each relative to the median of its round.
///
/// The standard error of a median is half the distance between two quantiles. They lie one standard
/// deviation of the binomial distribution, √n/2 of n ratios, on either side of the middle. The
/// density of the ratios there decides how well their median is known (H. A. David and H. N.
/// Nagaraja, "Order Statistics", 2003, section 7.1). Outliers do not matter, such as those from a
/// step of the machine's speed or a time slice of another process.
fn noise(rounds: &[Round]) -> Option<f64> {
    let distances = |round: &Round| -> Vec<f64> { round.ratios.iter().map(|ratio| ratio - round.center).collect() };
    let distances = sorted(&rounds.iter().flat_map(distances).collect::<Vec<f64>>())?;
    let error_of = |round: &Round| -> Option<f64> {
        let reach = 0.5 / (round.ratios.len() as f64).sqrt();
        Some((quantile(&distances, 0.5 + reach)? - quantile(&distances, 0.5 - reach)?) / 2.0)
    };
    let variances: Option<Vec<f64>> = rounds.iter().map(|round| Some(error_of(round)?.powi(2))).collect();
    let mut variances = variances?;
    variances.sort_unstable_by(f64::total_cmp);
    Some(variances.iter().sum::<f64>() / variances.len() as f64)
}

fn logarithms(samples: &[f64]) -> Option<Vec<f64>> {
    let logarithm = |sample: &f64| (*sample > 0.0 && sample.is_finite()).then(|| sample.ln());
    samples.iter().map(logarithm).collect()
}

/// Returns a mean over the rounds. Floating-point sums depend on the order of their terms, but the
/// comparison must not depend on the order of the rounds.
fn mean(rounds: &[Round], value: fn(&Round) -> f64) -> f64 {
    let mut values: Vec<f64> = rounds.iter().map(value).collect();
    values.sort_unstable_by(f64::total_cmp);
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Estimate;

    fn paired(baseline: &[Vec<f64>], candidate: &[Vec<f64>]) -> Option<Paired> {
        let [baseline, candidate] =
            [baseline, candidate].map(|side| side.iter().map(Vec::as_slice).collect::<Vec<_>>());
        Paired::new(&baseline, &candidate)
    }

    fn ratio(baseline: &[Vec<f64>], candidate: &[Vec<f64>]) -> Ratio {
        paired(baseline, candidate).unwrap().ratio(Confidence::DEFAULT, 0.0)
    }

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
    }

    /// Three rounds on a machine whose time doubles from window to window.
    fn drifting(factor: f64) -> Vec<Vec<f64>> {
        let sample = |window: i32| 100.0 * factor * 2f64.powi(window);
        (0..3)
            .map(|round| (0..5).map(|pair| sample(5 * round + pair)).collect())
            .collect()
    }

    #[test]
    fn drift_that_both_sides_share_does_not_count() {
        let (before, after) = (drifting(1.0), drifting(1.03));
        let alternating = ratio(&before, &after);
        assert!(near(alternating.estimate, 1.03), "{alternating:?}");
        assert!(
            near(alternating.interval.low, alternating.interval.high),
            "{alternating:?}"
        );
        let sides = [&before, &after].map(|side| {
            let workers: Vec<&[f64]> = side.iter().map(Vec::as_slice).collect();
            Estimate::from_workers(&workers).unwrap()
        });
        let separate = Ratio::from_estimates(&sides[0], &sides[1], Confidence::DEFAULT, 0.0).unwrap();
        assert!(
            separate.interval.low < 0.1 && separate.interval.high > 10.0,
            "{separate:?}"
        );
    }

    #[test]
    fn the_ratio_is_the_geometric_mean_over_the_rounds_of_the_median_ratio_of_neighbours() {
        let before = [vec![100.0, 200.0, 400.0], vec![100.0], vec![100.0]];
        let after = [vec![110.0, 200.0, 4_000.0], vec![200.0], vec![400.0]];
        assert!(near(ratio(&before, &after).estimate, (1.1f64 * 2.0 * 4.0).cbrt()));
    }

    #[test]
    fn samples_without_a_neighbour_do_not_count() {
        let even = vec![vec![100.0, 101.0, 102.0]; 3];
        let more = vec![vec![100.0, 101.0, 102.0, 500.0, 500.0, 500.0, 500.0]; 3];
        assert_eq!(paired(&even, &even), paired(&even, &more));
    }

    #[test]
    fn rounds_without_samples_do_not_count_and_three_must_remain() {
        let side = [vec![100.0, 101.0], vec![100.0], vec![102.0], vec![]];
        assert_eq!(paired(&side, &side).map(|paired| paired.rounds()), Some(3));
        assert_eq!(paired(&side[1..], &side[1..]), None);
        let mut other = side.clone();
        (other[2], other[3]) = (Vec::new(), vec![100.0]);
        let rounds = |one: &[Vec<f64>], other: &[Vec<f64>]| paired(one, other).map(|paired| paired.rounds());
        assert_eq!([rounds(&side, &other), rounds(&other, &side)], [None, None]);
        let with_empty: Vec<Vec<f64>> = [&side[..3], &[vec![7.0]]].concat();
        for (one, other) in [(&side[..], &with_empty[..]), (&with_empty, &side)] {
            assert_eq!(
                paired(one, other),
                paired(&side[..3], &side[..3]),
                "one side has no samples"
            );
        }
        assert_eq!(paired(&[], &[]), None);
    }

    #[test]
    fn sides_with_different_numbers_of_workers_have_no_rounds() {
        let side = vec![vec![100.0, 101.0]; 5];
        assert_eq!(paired(&side, &side[1..]), None);
    }

    #[test]
    fn samples_that_are_not_positive_have_no_ratio() {
        let side = vec![vec![100.0, 101.0]; 3];
        for broken in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let mut other = side.clone();
            other[1][0] = broken;
            assert_eq!(paired(&side, &other), None, "{broken}");
            assert_eq!(paired(&other, &side), None, "{broken}");
        }
    }

    #[test]
    fn rounds_that_differ_widen_the_interval_by_students_t() {
        let before = vec![vec![1.0; 4]; 3];
        let after = [0.01f64, 0.02, 0.03].map(|center| vec![center.exp(); 4]);
        let ratio = ratio(&before, &after);
        // Student's t with two degrees of freedom is 9.9248.
        let reach = ratio.interval.high.ln() - 0.02;
        assert!((reach - 1.05 * 9.924_8 * 0.01 / 3f64.sqrt()).abs() < 1e-5, "{reach}");
    }

    #[test]
    fn one_pair_with_a_step_of_the_machine_in_it_does_not_widen_the_interval() {
        let before = vec![vec![100.0, 101.0, 100.0, 101.0, 100.0, 101.0]; 5];
        let mut stepped = before.clone();
        stepped
            .iter_mut()
            .enumerate()
            .for_each(|(round, samples)| samples[round] *= 1.4);
        let ratio = ratio(&before, &stepped);
        assert!(ratio.interval.high < 1.001, "{ratio:?}");
    }

    #[test]
    fn rounds_that_agree_by_chance_do_not_hide_the_noise_of_the_samples() {
        let before = vec![vec![100.0; 3]; 3];
        let after = vec![vec![90.0, 100.0, 110.0]; 3];
        assert!(ratio(&before, &after).interval.high > 1.1);
    }

    #[test]
    fn rounds_that_differ_by_more_than_the_noise_of_their_samples_widen_the_interval() {
        let wide_for = |among_rounds| {
            let paired = Paired {
                rounds: 3,
                center: 0.0,
                among_rounds,
                within_round: 1.0,
                smaller: 1.0,
            };
            paired.wide_for()
        };
        assert_eq!([0.5, 1.5, 2.0].map(wide_for), [Spread::WithinRounds; 3]);
        assert_eq!(wide_for(2.1), Spread::AmongRounds);
    }

    #[test]
    fn a_change_of_one_tick_of_the_clock_is_always_possible() {
        let [before, after] = [100.0, 132.0].map(|sample| vec![vec![sample; 9]; 3]);
        for (one, other) in [(&before, &after), (&after, &before)] {
            let coarse = paired(one, other).unwrap().ratio(Confidence::DEFAULT, 32.0);
            assert!(coarse.interval.low <= 1.0 && coarse.interval.high >= 1.0, "{coarse:?}");
        }
    }

    fn sides() -> impl Strategy<Value = [Vec<Vec<f64>>; 2]> {
        let worker = || prop::collection::vec(1.0..1e6f64, 1..12);
        prop::collection::vec((worker(), worker()), 3..9).prop_map(|rounds| {
            let (one, other) = rounds.into_iter().unzip();
            [one, other]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn a_ratio_is_finite_for_times_of_any_size(
            rounds in prop::collection::vec((1..=f64::MAX.to_bits(), 1..=f64::MAX.to_bits()), 3..7),
            tick in 0.0..1e3f64,
        ) {
            let times: Vec<[f64; 2]> = rounds.iter().map(|(one, other)| [f64::from_bits(*one), f64::from_bits(*other)]).collect();
            let side = |first: usize| -> Vec<Vec<f64>> { times.iter().map(|pair| vec![pair[first], pair[1 - first]]).collect() };
            let (before, after) = (side(0), side(1));
            let [before, after] = [&before, &after].map(|side| side.iter().map(Vec::as_slice).collect::<Vec<_>>());
            let Ratio { estimate, interval } = Paired::new(&before, &after).unwrap().ratio(Confidence::DEFAULT, tick);
            prop_assert!(interval.low > 0.0 && interval.low <= estimate && estimate <= interval.high && interval.high.is_finite());
        }

        #[test]
        fn swapping_the_sides_inverts_the_ratio([one, other] in sides()) {
            let (there, back) = (ratio(&one, &other), ratio(&other, &one));
            prop_assert!(near(there.estimate, 1.0 / back.estimate));
            prop_assert!(near(there.interval.low, 1.0 / back.interval.high));
        }

        #[test]
        fn a_slowdown_of_both_samples_of_a_pair_does_not_matter([one, other] in sides(), seed: u64) {
            let mut random = fastrand::Rng::with_seed(seed);
            let (mut slowed, mut other_slowed) = (one.clone(), other.clone());
            for (before, after) in slowed.iter_mut().zip(&mut other_slowed) {
                for (before, after) in before.iter_mut().zip(after) {
                    let slower = 1.0 + 3.0 * random.f64();
                    *before *= slower;
                    *after *= slower;
                }
            }
            let (plain, again) = (ratio(&one, &other), ratio(&slowed, &other_slowed));
            prop_assert!((plain.estimate.ln() - again.estimate.ln()).abs() < 1e-9);
            prop_assert!((plain.interval.high.ln() - again.interval.high.ln()).abs() < 1e-6 * (1.0 + plain.interval.high.ln().abs()));
        }

        #[test]
        fn the_order_of_the_rounds_does_not_matter([one, other] in sides()) {
            let turned = |side: &[Vec<f64>]| -> Vec<Vec<f64>> { side.iter().rev().cloned().collect() };
            let (plain, again) = (ratio(&one, &other), ratio(&turned(&one), &turned(&other)));
            prop_assert!(near(plain.estimate, again.estimate) && near(plain.interval.high, again.interval.high));
        }

        #[test]
        fn an_interval_is_finite_and_contains_the_estimate([one, other] in sides(), tick in 0.0..1e12f64) {
            let confidence = Confidence::new(1.0 - 1e-12).unwrap();
            let ratio = paired(&one, &other).unwrap().ratio(confidence, tick);
            prop_assert!(ratio.interval.low > 0.0 && ratio.interval.high.is_finite(), "{:?}", ratio);
            prop_assert!(ratio.interval.low <= ratio.estimate && ratio.estimate <= ratio.interval.high);
        }
    }
}
