//! The ratio of two sides that were measured in turns: what drifted met both alike, and does not count.

use super::comparison::{Confidence, FEWEST_WORKERS, MOST_FREEDOM, Ratio};
use super::quantile::{median, quantile, sorted};
use super::resampled_median::ResampledMedians;
use super::student::student_quantile;

/// Rounds of two fresh workers that took their samples in turns: how much slower the candidate's was in each, and how that spreads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Paired {
    rounds: usize,
    /// Mean over the rounds of the median logarithm of the ratio of neighbouring samples.
    center: f64,
    /// Variance of those medians among the rounds.
    among_rounds: f64,
    /// Mean over the rounds of the variance of a resample's median.
    within_round: f64,
    /// The smaller side's geometric mean of the workers' medians, in nanoseconds.
    shorter_ns: f64,
}

impl Paired {
    /// The samples of each worker in nanoseconds, in the order they were taken: the workers at one position shared a round, and their samples at one position are neighbours in
    /// time. Where one has more samples, the last of them have no neighbour and do not count; nor do rounds without any.
    ///
    /// `None` where the sides have different numbers of workers, where fewer than [`FEWEST_WORKERS`] rounds count, and where a sample is not finite or not above zero.
    pub fn of(baseline: &[&[f64]], candidate: &[&[f64]], medians: &mut ResampledMedians) -> Option<Paired> {
        if baseline.len() != candidate.len() {
            return None;
        }
        let rounds = baseline.iter().zip(candidate);
        let rounds = rounds.filter(|(before, after)| !before.is_empty() && !after.is_empty());
        let rounds = rounds.map(|(before, after)| Round::of(before, after, medians));
        let rounds: Vec<Round> = rounds.collect::<Option<_>>()?;
        if rounds.len() < FEWEST_WORKERS {
            return None;
        }
        let number = rounds.len() as f64;
        let mean = |figure: fn(&Round) -> f64| mean(&rounds, figure);
        let center = mean(|round| round.center);
        let squares: f64 = rounds.iter().map(|round| (round.center - center).powi(2)).sum();
        let shorter = mean(|round| round.baseline).min(mean(|round| round.candidate));
        Some(Paired {
            rounds: rounds.len(),
            center,
            among_rounds: squares / (number - 1.0),
            within_round: mean(|round| round.within),
            shorter_ns: shorter.exp(),
        })
    }

    /// Number of rounds that count.
    pub fn rounds(&self) -> usize {
        self.rounds
    }

    /// The geometric mean over the rounds of the median ratio of neighbouring samples, with the interval of a paired comparison: Student's t, with one degree of freedom less than
    /// there are rounds and at most seven, times the standard error of that mean, on a logarithmic scale.
    ///
    /// Rounds are the units that repeat on their own; the samples in one share their processes (T. Kalibera and R. Jones, "Rigorous Benchmarking in Reasonable Time", ISMM 2013; A. Georges,
    /// D. Buytaert and L. Eeckhout, "Statistically Rigorous Java Performance Evaluation", OOPSLA 2007). Where few rounds lie close together by chance, the samples in them know the error better, by the bootstrap
    /// of each round's median: the larger of the two variances counts. The interval always takes in a change of `tick_ns` nanoseconds, the step of the clock.
    pub fn ratio(&self, confidence: Confidence, tick_ns: f64) -> Ratio {
        let rounds = self.rounds as f64;
        let error = (self.among_rounds.max(self.within_round) / rounds).sqrt();
        let freedom = (rounds - 1.0).min(MOST_FREEDOM);
        let reach = student_quantile(confidence.fraction(), freedom) * error;
        Ratio::around(self.center, reach, tick_ns, self.shorter_ns)
    }
}

/// A worker of each side, in logarithms.
struct Round {
    /// The median of the ratios of neighbouring samples.
    center: f64,
    /// The variance of a resample's median.
    within: f64,
    /// Median of the samples that have a neighbour, of either side.
    baseline: f64,
    candidate: f64,
}

impl Round {
    /// `None` for samples without a logarithm, and where none has a neighbour.
    fn of(baseline: &[f64], candidate: &[f64], medians: &mut ResampledMedians) -> Option<Round> {
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
            within: medians.variance(&ratios),
            baseline: median(&before)?,
            candidate: median(&after)?,
        })
    }
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
