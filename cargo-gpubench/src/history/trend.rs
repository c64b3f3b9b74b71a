//! The history of each case, collected from the histories of runs.

use gpubench_contract::{BenchmarkHistory, DeviceIdentity, HistoryRun, KnownBreak, SchemaVersion};
use gpubench_stats::median;
use gpubench_store::history::{History, Series, SeriesRun, changes};

/// The word for a GPU in a known break.
pub(super) const GPU: &str = "GPU";

/// The most runs on each side of a known break that count for the levels there.
const NEAR: usize = 8;

/// The fewest runs with a time of the twin on each side of a known break.
const FEWEST_TWINS: usize = 3;

/// Returns the cases of each device, in each mode and on each GPU: those of the latest run in its
/// order, then those of earlier runs only.
pub(super) fn trends(histories: &[History]) -> Vec<Vec<BenchmarkHistory>> {
    let mut of_devices: Vec<Vec<BenchmarkHistory>> = histories.iter().map(of_device).collect();
    let all: Vec<BenchmarkHistory> = of_devices.iter().flatten().cloned().collect();
    for history in of_devices.iter_mut().flatten() {
        history.known_break = known_break(history, &all);
    }
    of_devices
}

fn of_device(history: &History) -> Vec<BenchmarkHistory> {
    let series = Series::all(&history.entries);
    let of_each = series.iter().zip(changes(&series));
    let trend = |(series, changes): (&Series<'_>, _)| BenchmarkHistory {
        schema_version: SchemaVersion,
        device: history.identity.clone(),
        case: series.case.to_owned(),
        mode: series.reading.mode,
        metric: series.metric.clone(),
        usual_change: series.usual_change(),
        gpu: series.gpu.map(str::to_owned),
        known_break: None,
        changes,
        runs: series.runs.iter().map(run).collect(),
    };
    of_each.map(trend).collect()
}

fn run(SeriesRun { entry, case }: &SeriesRun<'_>) -> HistoryRun {
    HistoryRun {
        run_id: entry.run_id.clone(),
        started_at: entry.started_at.clone(),
        tool_version: entry.tool_version.clone(),
        revision: entry.revision.clone(),
        value: case.value,
        twin_ns: case.twin_ns,
        ci95: case.ci95,
        n: case.n,
        workers: case.workers,
    }
}

/// Returns what separates a history from the one of the same case that ended last before it began.
fn known_break(history: &BenchmarkHistory, all: &[BenchmarkHistory]) -> Option<KnownBreak> {
    let begin = began(history.runs.first()?)?;
    let earlier = all.iter().filter_map(|other| {
        let end = began(other.runs.last()?)?;
        let is_same = other.case == history.case && other.mode == history.mode && other.metric == history.metric;
        (is_same && end < begin && other.device.kind == history.device.kind).then_some((end, other))
    });
    let (_, before) = earlier.max_by_key(|(end, _)| *end)?;
    let (what, from, to) = difference(before, history)?;
    let (last, first) = (
        &before.runs[before.runs.len().saturating_sub(NEAR)..],
        &history.runs[..history.runs.len().min(NEAR)],
    );
    let ratio = level(first)? / level(last)?;
    let drift = twin_level(last)
        .zip(twin_level(first))
        .map(|(before, after)| after / before);
    ratio.is_finite().then(|| KnownBreak {
        what: what.to_owned(),
        from,
        to,
        ratio,
        drift: drift.filter(|drift| drift.is_finite()),
    })
}

/// Returns the first property in which the devices of two histories differ, and its values.
fn difference(before: &BenchmarkHistory, after: &BenchmarkHistory) -> Option<(&'static str, String, String)> {
    let of_devices = DeviceIdentity::difference(&before.device, &after.device);
    let gpu = |history: &BenchmarkHistory| history.gpu.clone().unwrap_or_default();
    of_devices.or_else(|| (before.gpu != after.gpu).then(|| (GPU, gpu(before), gpu(after))))
}

fn began(run: &HistoryRun) -> Option<jiff::Timestamp> {
    run.started_at.parse().ok()
}

fn level(runs: &[HistoryRun]) -> Option<f64> {
    median(&runs.iter().map(|run| run.value).collect::<Vec<_>>())
}

fn twin_level(runs: &[HistoryRun]) -> Option<f64> {
    let known: Vec<f64> = runs.iter().filter_map(|run| run.twin_ns).collect();
    median(&known).filter(|_| known.len() >= FEWEST_TWINS)
}
