//! The history of each case, collected from the history of runs.

use std::collections::HashSet;

use gpubench_contract::{BenchmarkHistory, HistoryRun, Metric, Reading, SchemaVersion};
use gpubench_stats::history_fence;
use gpubench_store::history::{History, HistoryCase, HistoryEntry};

/// Returns the cases of a history in each mode: those of the latest run in its order, then those of
/// earlier runs only.
pub(super) fn trends(history: &History) -> Vec<BenchmarkHistory> {
    let mut seen = HashSet::new();
    let latest_first = history.entries.iter().rev();
    let cases = latest_first
        .flat_map(|entry| &entry.cases)
        .filter(|case| seen.insert((&*case.case, case.reading())));
    cases.map(|case| trend(history, &case.case, &case.reading())).collect()
}

fn trend<'a>(history: &'a History, case: &str, reading: &Reading) -> BenchmarkHistory {
    let found = |entry: &'a HistoryEntry| {
        let mut cases = entry.cases.iter();
        let found = cases.find(|known| known.case == case && known.reading() == *reading)?;
        Some((entry, found))
    };
    let found: Vec<(&HistoryEntry, &HistoryCase)> = history.entries.iter().filter_map(found).collect();
    // A case whose unit changed starts a new history.
    let metric = found
        .last()
        .map_or_else(Metric::time, |(_, latest)| latest.metric.clone());
    let runs = found.into_iter().filter(|(_, case)| case.metric == metric);
    let runs: Vec<HistoryRun> = runs.map(|(entry, case)| run(entry, case)).collect();
    BenchmarkHistory {
        schema_version: SchemaVersion,
        device: history.identity.clone(),
        case: case.to_owned(),
        mode: reading.mode,
        usual_change: history_fence(&history.values(case, reading.mode, &metric)),
        metric,
        runs,
    }
}

fn run(entry: &HistoryEntry, case: &HistoryCase) -> HistoryRun {
    HistoryRun {
        run_id: entry.run_id.clone(),
        started_at: entry.started_at.clone(),
        tool_version: entry.tool_version.clone(),
        revision: entry.revision.clone(),
        value: case.value,
        ci95: case.ci95,
        n: case.n,
        workers: case.workers,
    }
}
