//! The history of one case: runs that may be compared with each other.

use std::collections::HashSet;

use super::{HistoryCase, HistoryEntry};
use gpubench_contract::{HistoryChange, Metric, Reading};
use gpubench_stats::{LevelChange, PastRuns, PastValue, history_fence, level_changes};

/// The smallest relative changes of a level that matter: of a count, and of other metrics.
const LEAST_OF_COUNTS: f64 = 0.002;
const LEAST: f64 = 0.01;

/// The runs of one case in one mode and metric on one GPU.
#[derive(Clone, Debug, PartialEq)]
pub struct Series<'h> {
    /// Name of the case, with its package in front.
    pub case: &'h str,
    /// UUID of the GPU. `None` if it is not known, or on the CPU device.
    pub gpu: Option<&'h str>,
    /// How the case was measured.
    pub reading: Reading,
    /// What the values measure.
    pub metric: &'h Metric,
    /// The runs, oldest first.
    pub runs: Vec<SeriesRun<'h>>,
}

/// The result of one run in a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeriesRun<'h> {
    /// The run.
    pub entry: &'h HistoryEntry,
    /// The result.
    pub case: &'h HistoryCase,
}

impl<'h> Series<'h> {
    /// Returns every series in the runs of a device: those of the latest run in its order, then
    /// those of earlier runs only.
    pub fn all(entries: &'h [HistoryEntry]) -> Vec<Series<'h>> {
        let mut seen = HashSet::new();
        let latest_first = entries.iter().rev().flat_map(|entry| &entry.cases);
        let of_each = latest_first.filter(|case| seen.insert((&case.case, case.reading(), &case.gpu)));
        of_each.map(|case| Series::like(case, entries)).collect()
    }

    /// Returns the series of a result. A case whose unit changed begins again.
    fn like(latest: &'h HistoryCase, entries: &'h [HistoryEntry]) -> Series<'h> {
        let is_like = |case: &&HistoryCase| {
            case.case == latest.case
                && case.mode == latest.mode
                && case.metric == latest.metric
                && case.gpu == latest.gpu
        };
        let run = |entry: &'h HistoryEntry| {
            let case = entry.cases.iter().find(is_like)?;
            Some(SeriesRun { entry, case })
        };
        Series {
            case: &latest.case,
            gpu: latest.gpu.as_deref(),
            reading: latest.reading(),
            metric: &latest.metric,
            runs: entries.iter().filter_map(run).collect(),
        }
    }

    /// Returns the change between neighbouring runs that is still normal.
    pub fn usual_change(&self) -> Option<f64> {
        history_fence(&self.values())
    }

    fn values(&self) -> Vec<PastValue<&'h str>> {
        self.runs.iter().map(SeriesRun::value).collect()
    }
}

impl<'h> SeriesRun<'h> {
    /// Returns the value with its twin and the commit. Modified sources have no commit, because
    /// they may differ between runs.
    pub(super) fn value(&self) -> PastValue<&'h str> {
        PastValue {
            value: self.case.value,
            twin: self.case.twin_ns,
            sources: self.entry.unmodified_commit(),
        }
    }
}

/// Returns the changes of level of all series of a device.
pub fn changes(series: &[Series<'_>]) -> Vec<Vec<HistoryChange>> {
    fn past<'h>(series: &Series<'h>) -> PastRuns<&'h str> {
        PastRuns {
            runs: series.values(),
            least_change: if series.metric.is_count() {
                LEAST_OF_COUNTS
            } else {
                LEAST
            },
        }
    }
    let found = level_changes(&series.iter().map(past).collect::<Vec<_>>());
    found
        .iter()
        .zip(series)
        .map(|(changes, series)| changes.iter().map(|change| described(change, series)).collect())
        .collect()
}

fn described(change: &LevelChange, series: &Series<'_>) -> HistoryChange {
    let (before, after) = series.runs.split_at(change.position);
    // The commits next to the change that are known. Runs of modified sources say nothing about a
    // commit.
    let last_before = before.iter().rev().find_map(|run| run.entry.unmodified_commit());
    let first_after = after.iter().find_map(|run| run.entry.unmodified_commit());
    HistoryChange {
        run: change.position as u64,
        before: change.before,
        after: change.after,
        drift: change.drift,
        p_value: change.p_value,
        origin: change.origin,
        last_commit_before: last_before.map(str::to_owned),
        first_commit_after: first_after.map(str::to_owned),
        confirmation: None,
    }
}
