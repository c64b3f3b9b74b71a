//! The ratio of two sides that were measured in turns: what drifted met both alike, and does not
//! count.

use super::comparison::{Confidence, FEWEST_WORKERS, Ratio};
use super::estimate::MOST_FREEDOM;
use super::quantile::{median, quantile, sorted};
use super::student::student_quantile;

/// What Student's t is made larger by: where processes differ by far more than their samples, its
/// false alarms would be one in a hundred to the letter.
const MARGIN: f64 = 1.05;

/// Rounds of two fresh workers that took their samples in turns: how much more the candidate's took
/// in each, and how that spreads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Paired {
    rounds: usize,
    /// Mean over the rounds of the median logarithm of the ratio of neighbouring samples.
    center: f64,
    /// Variance of those medians among the rounds.
    among_rounds: f64,
    /// Variance that such a median has from the noise of its samples alone, on average over the
    /// rounds.
    within_round: f64,
    /// The smaller side's geometric mean of the workers' medians.
    smaller: f64,
}

impl Paired {
    /// The samples of each worker, in the order they were taken: the workers at one position shared
    /// a round, and their samples at one position are neighbours in time. Where one has more
    /// samples, the last of them have no neighbour and do not count; nor do rounds without any.
    ///
    /// `None` where the sides have different numbers of workers, where fewer than
    /// [`FEWEST_WORKERS`] rounds count, and where a sample is not finite or not above zero.
    pub fn of(baseline: &[&[f64]], candidate: &[&[f64]]) -> Option<Paired> {
        if baseline.len() != candidate.len() {
            return None;
        }
        let rounds = baseline.iter().zip(candidate);
        let rounds = rounds.filter(|(before, after)| !before.is_empty() && !after.is_empty());
        let rounds = rounds.map(|(before, after)| Round::of(before, after));
        let rounds: Vec<Round> = rounds.collect::<Option<_>>()?;
        if rounds.len() < FEWEST_WORKERS {
            return None;
        }
        let number = rounds.len() as f64;
        let mean = |figure: fn(&Round) -> f64| mean(&rounds, figure);
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

    /// Number of rounds that count.
    pub fn rounds(&self) -> usize {
        self.rounds
    }

    /// Which of the two it is that the interval is wide for.
    pub fn wide_for(&self) -> Spread {
        if self.among_rounds > 2.0 * self.within_round {
            Spread::AmongRounds
        } else {
            Spread::WithinRounds
        }
    }

    /// The geometric mean over the rounds of the median ratio of neighbouring samples, with the
    /// interval of a paired comparison: the standard error of that mean, times Student's t with one
    /// degree of freedom less than there are rounds and at most seven, times 1.05, on a logarithmic
    /// scale.
    ///
    /// Rounds are the units that repeat on their own; the samples in one share their processes (T.
    /// Kalibera and R. Jones, "Rigorous Benchmarking in Reasonable Time", ISMM 2013; A. Georges, D.
    /// Buytaert and L. Eeckhout, "Statistically Rigorous Java Performance Evaluation", OOPSLA
    /// 2007). Where few rounds lie close together by chance, the samples in them know the error
    /// better: the larger of the two variances counts. The interval always takes in a change of
    /// `step`, that of the clock for times.
    pub fn ratio(&self, confidence: Confidence, step: f64) -> Ratio {
        let rounds = self.rounds as f64;
        let error = (self.among_rounds.max(self.within_round) / rounds).sqrt();
        let freedom = (rounds - 1.0).min(MOST_FREEDOM);
        let reach = MARGIN * student_quantile(confidence.fraction(), freedom) * error;
        Ratio::around(self.center.exp(), reach, step, self.smaller)
    }
}

/// What varies the most in a comparison in turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// Processes of one side: the medians of the rounds lie further apart than their samples
    /// explain.
    AmongRounds,
    /// The samples of a process.
    WithinRounds,
}

/// A worker of each side, in logarithms.
struct Round {
    /// The median of the ratios of neighbouring samples.
    center: f64,
    /// Those ratios, ascending.
    ratios: Vec<f64>,
    /// Median of the samples that have a neighbour, of either side.
    baseline: f64,
    candidate: f64,
}

impl Round {
    /// `None` for samples without a logarithm, and where none has a neighbour.
    fn of(baseline: &[f64], candidate: &[f64]) -> Option<Round> {
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

/// The variance of the median of a round, on average, from all ratios about the medians of their
/// rounds: half the distance of the quantiles that lie one standard deviation of the binomial
/// distribution, √n/2 of n ratios, on either side of the middle. It is how dense ratios lie there
/// that tells how well their median is known (H. A. David and H. N. Nagaraja, "Order Statistics",
/// 2003, section 7.1): a step of the machine's speed, or a time slice that another process had,
/// puts single ratios far out.
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

/// A sum depends on its order; the comparison must not depend on that of the rounds.
fn mean(rounds: &[Round], figure: fn(&Round) -> f64) -> f64 {
    let mut figures: Vec<f64> = rounds.iter().map(figure).collect();
    figures.sort_unstable_by(f64::total_cmp);
    figures.iter().sum::<f64>() / figures.len() as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Estimate;

    fn paired(baseline: &[Vec<f64>], candidate: &[Vec<f64>]) -> Option<Paired> {
        let [baseline, candidate] =
            [baseline, candidate].map(|side| side.iter().map(Vec::as_slice).collect::<Vec<_>>());
        Paired::of(&baseline, &candidate)
    }

    fn ratio(baseline: &[Vec<f64>], candidate: &[Vec<f64>]) -> Ratio {
        paired(baseline, candidate).unwrap().ratio(Confidence::DEFAULT, 0.0)
    }

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
    }

    /// Three rounds on a machine that becomes twice as slow from window to window.
    fn drifting(factor: f64) -> Vec<Vec<f64>> {
        let sample = |window: i32| 100.0 * factor * 2f64.powi(window);
        (0..3)
            .map(|round| (0..5).map(|pair| sample(5 * round + pair)).collect())
            .collect()
    }

    #[test]
    fn drift_that_both_sides_share_does_not_count() {
        let (before, after) = (drifting(1.0), drifting(1.03));
        let in_turns = ratio(&before, &after);
        assert!(near(in_turns.estimate, 1.03), "{in_turns:?}");
        assert!(near(in_turns.interval.low, in_turns.interval.high), "{in_turns:?}");
        let sides = [&before, &after].map(|side| {
            let workers: Vec<&[f64]> = side.iter().map(Vec::as_slice).collect();
            Estimate::of(&workers).unwrap()
        });
        let apart = Ratio::of(&sides[0], &sides[1], Confidence::DEFAULT, 0.0).unwrap();
        assert!(apart.interval.low < 0.1 && apart.interval.high > 10.0, "{apart:?}");
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
    fn rounds_without_samples_do_not_count_and_three_must_be_left() {
        let side = [vec![100.0, 101.0], vec![100.0], vec![102.0], vec![]];
        assert_eq!(paired(&side, &side).map(|paired| paired.rounds()), Some(3));
        assert_eq!(paired(&side[1..], &side[1..]), None);
        assert_eq!(paired(&[], &[]), None);
    }

    #[test]
    fn sides_with_different_numbers_of_workers_have_no_rounds() {
        let side = vec![vec![100.0, 101.0]; 5];
        assert_eq!(paired(&side, &side[1..]), None);
    }

    #[test]
    fn samples_that_are_no_times_have_no_ratio() {
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
        // Student's t for two degrees of freedom is 9.9248.
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
        fn no_times_however_far_apart_have_a_ratio_that_is_no_number(
            rounds in prop::collection::vec((1..=f64::MAX.to_bits(), 1..=f64::MAX.to_bits()), 3..7),
            tick in 0.0..1e3f64,
        ) {
            let times: Vec<[f64; 2]> = rounds.iter().map(|(one, other)| [f64::from_bits(*one), f64::from_bits(*other)]).collect();
            let side = |first: usize| -> Vec<Vec<f64>> { times.iter().map(|pair| vec![pair[first], pair[1 - first]]).collect() };
            let (before, after) = (side(0), side(1));
            let [before, after] = [&before, &after].map(|side| side.iter().map(Vec::as_slice).collect::<Vec<_>>());
            let Ratio { estimate, interval } = Paired::of(&before, &after).unwrap().ratio(Confidence::DEFAULT, tick);
            prop_assert!(interval.low > 0.0 && interval.low <= estimate && estimate <= interval.high && interval.high.is_finite());
        }

        #[test]
        fn swapping_the_sides_inverts_the_ratio([one, other] in sides()) {
            let (there, back) = (ratio(&one, &other), ratio(&other, &one));
            prop_assert!(near(there.estimate, 1.0 / back.estimate));
            prop_assert!(near(there.interval.low, 1.0 / back.interval.high));
        }

        #[test]
        fn what_slows_both_samples_of_each_pair_alike_does_not_matter([one, other] in sides(), seed: u64) {
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
        fn an_interval_is_finite_and_holds_the_estimate([one, other] in sides(), tick in 0.0..1e12f64) {
            let confidence = Confidence::new(1.0 - 1e-12).unwrap();
            let ratio = paired(&one, &other).unwrap().ratio(confidence, tick);
            prop_assert!(ratio.interval.low > 0.0 && ratio.interval.high.is_finite(), "{:?}", ratio);
            prop_assert!(ratio.interval.low <= ratio.estimate && ratio.estimate <= ratio.interval.high);
        }
    }
}
