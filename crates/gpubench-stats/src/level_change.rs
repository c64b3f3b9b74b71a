//! Changes of the level of a benchmark from run to run, on which two detectors agree.

use super::divisive::{ChangePoint, Divisive, Judgement};
use super::fence::{PastValue, history_fence};
use super::quantile::median;
use super::twin::doubt;
use gpubench_contract::ChangeOrigin;

/// Fewest runs on both sides of a change. A single spike, or two in a row, are none.
pub const FEWEST_RUNS_OF_LEVEL: usize = 3;

/// The largest share of false changes among those found in all cases of a history.
pub const FALSE_DISCOVERIES: f64 = 0.01;

/// The most runs on each side of a change whose medians are its levels. A level that drifts over
/// more runs than that has not changed at one of them.
const NEAR: usize = 8;

/// The most runs before a change that the runs after it are compared with. Many of them find a
/// small change soon.
const BEFORE: usize = 45;

/// With fewer runs on a side, a change must be beyond the fence of single runs.
const MANY: usize = 5;

/// The standard deviation of a [`shift`] divided by that of a difference of means, for normal
/// values.
const OF_SHIFT: f64 = 1.0233;

/// The share of the runs on a side that must lie on that side of the middle between both levels.
const SEPARATED: f64 = 0.75;

/// The settings of E-divisive: those of Hunter's authors, but strict. The p-value does not account
/// for the choice of the position, so it is far below one false alert in ten thousand runs.
const DIVISIVE: Divisive = Divisive {
    window: 50,
    most_p: 5e-5,
    least_change: 0.0,
    least_segment: FEWEST_RUNS_OF_LEVEL,
    judgement: Judgement::Strict,
};

/// A change of the level of a benchmark.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelChange {
    /// The position of the first run with the new level.
    pub position: usize,
    /// The level before, the median of the nearest runs.
    pub before: f64,
    /// The level after.
    pub after: f64,
    /// The level of the twin after the change divided by the one before. `None` without at least
    /// [`FEWEST_RUNS_OF_LEVEL`] times of the twin on both sides.
    pub drift: Option<f64>,
    /// The p-value of the t-test at this position.
    pub p_value: f64,
    /// What changed.
    pub origin: ChangeOrigin,
}

/// The history of one case on one device.
#[derive(Clone, Debug, PartialEq)]
pub struct PastRuns<S> {
    /// The runs, in order.
    pub runs: Vec<PastValue<S>>,
    /// The smallest relative change of a level that matters, as a fraction.
    pub least_change: f64,
}

/// Finds the changes of level in the histories of all cases of a device. A change is one on which
/// two detectors agree:
///
/// 1. E-divisive, with segments of at least [`FEWEST_RUNS_OF_LEVEL`] runs. Each run of each case is
///    a hypothesis, that a change begins there. The procedure of Y. Benjamini and Y. Hochberg
///    ("Controlling the False Discovery Rate", Journal of the Royal Statistical Society B 57, 1995)
///    keeps the share of false ones at [`FALSE_DISCOVERIES`].
/// 2. The fence of the history ([`history_fence`]): the runs after it are shifted by more than such
///    runs usually are, and the levels differ by more than `least_change`.
///
/// A history without a fence has no changes.
pub fn level_changes<S: PartialEq>(cases: &[PastRuns<S>]) -> Vec<Vec<LevelChange>> {
    let candidates: Vec<Vec<LevelChange>> = cases.iter().map(on_which_both_agree).collect();
    let p_values: Vec<f64> = candidates.iter().flatten().map(|change| change.p_value).collect();
    let largest = largest_rejected(p_values, cases.iter().map(|case| case.runs.len()).sum());
    let is_rejected = |change: &LevelChange| largest.is_some_and(|largest| change.p_value <= largest);
    let kept = |changes: Vec<LevelChange>| changes.into_iter().filter(is_rejected).collect();
    candidates.into_iter().map(kept).collect()
}

/// Returns the largest p-value that is rejected. Of the `hypotheses`, those that are not among the
/// p-values count as one.
fn largest_rejected(mut p_values: Vec<f64>, hypotheses: usize) -> Option<f64> {
    p_values.sort_by(f64::total_cmp);
    let limit = |rank: usize| FALSE_DISCOVERIES * (rank + 1) as f64 / hypotheses as f64;
    let mut ranked = p_values.into_iter().enumerate().rev();
    ranked.find(|(rank, p)| *p <= limit(*rank)).map(|(_, p)| p)
}

fn on_which_both_agree<S: PartialEq>(case: &PastRuns<S>) -> Vec<LevelChange> {
    let runs = &case.runs[..];
    let Some(fence) = history_fence(runs) else {
        return Vec::new();
    };
    let points = DIVISIVE.change_points(&without_spikes(runs, fence));
    let bound = |index: Option<usize>, otherwise: usize| {
        let neighbour = index.and_then(|index| points.get(index));
        neighbour.map_or(otherwise, |point| point.position)
    };
    let change = |(index, point): (usize, &ChangePoint)| {
        let first = bound(index.checked_sub(1), 0);
        let until = |most: usize| &runs[first.max(point.position.saturating_sub(most))..point.position];
        let end = bound(Some(index + 1), runs.len()).min(point.position + NEAR);
        let (long_before, before, after) = (until(BEFORE), until(NEAR), &runs[point.position..end]);
        let usual = usual_between(long_before.len(), after.len(), fence);
        let threshold = usual.max(case.least_change).ln_1p();
        let [low, high] = [before, after].map(level);
        let (low, high) = (low?, high?);
        let log = (high / low).ln();
        let is_usual = shift(long_before, after)? * log.signum() <= usual.ln_1p();
        let is_small = log.abs() <= case.least_change.ln_1p();
        if is_usual || is_small || !are_separated(before, after, (low * high).sqrt(), log) {
            return None;
        }
        let drift = twin_level(before)
            .zip(twin_level(after))
            .map(|(before, after)| after / before);
        let explains = |drift: f64| {
            let drift = drift.ln();
            drift * log > 0.0 && (log - drift).abs() <= threshold.hypot(doubt(drift))
        };
        Some(LevelChange {
            position: point.position,
            before: low,
            after: high,
            drift,
            p_value: point.p_value,
            origin: if drift.is_some_and(explains) {
                ChangeOrigin::Machine
            } else {
                ChangeOrigin::Case
            },
        })
    };
    points.iter().enumerate().filter_map(change).collect()
}

/// Returns the values, with each spike replaced by the nearer of its neighbours. A spike is a value
/// above both of its neighbours, or below both, by more than the fence. The first value and the
/// last one count the two next to them as neighbours. Spikes would hide a change, since they add to
/// the variance, or look like one, since they move a mean.
fn without_spikes<S>(runs: &[PastValue<S>], fence: f64) -> Vec<f64> {
    let last = runs.len() - 1;
    let calmed = |position: usize| {
        let neighbours = match position {
            0 => [1, 2],
            _ if position == last => [last - 2, last - 1],
            _ => [position - 1, position + 1],
        };
        let [one, other] = neighbours.map(|neighbour| runs[neighbour].value);
        let (above, below, here) = (one.max(other), one.min(other), runs[position].value);
        if here > above * (1.0 + fence) {
            above
        } else if here < below / (1.0 + fence) {
            below
        } else {
            here
        }
    };
    (0..runs.len()).map(calmed).collect()
}

/// Returns by which fraction some runs before and after a position are usually shifted at most. The
/// fence is about two single runs. More are shifted by less, but a few only if the runs do not
/// depend on each other.
fn usual_between(before: usize, after: usize, fence: f64) -> f64 {
    if before.min(after) < MANY {
        return fence;
    }
    let of_means = ((1.0 / before as f64 + 1.0 / after as f64) / 2.0).sqrt();
    fence * (OF_SHIFT * of_means).min(1.0)
}

fn are_separated<S>(before: &[PastValue<S>], after: &[PastValue<S>], middle: f64, log: f64) -> bool {
    let are_below = |runs: &[PastValue<S>], is_below: bool| {
        let there = runs.iter().filter(|run| (run.value < middle) == is_below);
        there.count() as f64 >= SEPARATED * runs.len() as f64
    };
    are_below(before, log > 0.0) && are_below(after, log < 0.0)
}

/// Returns the logarithm of the factor between some runs and others: the median over all pairs
/// (J. L. Hodges and E. L. Lehmann, "Estimates of Location Based on Rank Tests", Annals of
/// Mathematical Statistics 34, 1963). It varies nearly as little as a difference of means, and no
/// single spike moves it far.
fn shift<S>(before: &[PastValue<S>], after: &[PastValue<S>]) -> Option<f64> {
    let pairs = before
        .iter()
        .flat_map(|one| after.iter().map(move |other| (other.value / one.value).ln()));
    median(&pairs.collect::<Vec<_>>())
}

fn level<S>(runs: &[PastValue<S>]) -> Option<f64> {
    median(&runs.iter().map(|run| run.value).collect::<Vec<_>>())
}

fn twin_level<S>(runs: &[PastValue<S>]) -> Option<f64> {
    let known: Vec<f64> = runs
        .iter()
        .filter_map(|run| run.twin)
        .filter(|twin| twin.is_normal() && *twin > 0.0)
        .collect();
    median(&known).filter(|_| known.len() >= FEWEST_RUNS_OF_LEVEL)
}

#[cfg(test)]
mod tests;
