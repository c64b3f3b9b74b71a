//! Runs that use every part of a page.

use crate::HtmlReport;
use gpubench_contract::{
    Arrangement, BenchmarkComplete, Change, ChangeVerdict, ComparedResult, ComparedRun, ComparisonComplete,
    ComparisonRow, Revision, SchemaVersion, ThresholdSource,
};
use gpubench_stats::{summary, worker_share};
use gpubench_store::StoredRun;
use gpubench_store::history::HistoryEntry;
use gpubench_testing::{SampleRun, on_gpu};

/// Returns a sample run as it is stored.
pub(super) fn stored(run: SampleRun) -> StoredRun {
    StoredRun::new(run.started, run.results, Some(run.finished), Some(revision()))
}

fn revision() -> Revision {
    Revision {
        commit: "3a16056c0ffee3a16056c0ffee3a16056c0ffee0".into(),
        branch: Some("main".into()),
        modified: true,
    }
}

/// Returns a page without a comparison or a history.
pub(super) fn plain_page(run: &StoredRun) -> String {
    let report = HtmlReport {
        run,
        comparisons: &[],
        devices: None,
        history: &[],
    };
    report.page()
}

/// Returns a page with several workers, a comparison and a history.
pub(super) fn full_page() -> String {
    let run = with_workers(stored(on_gpu()));
    let history: Vec<HistoryEntry> = (0..12).map(|position| past(&run, position)).collect();
    let report = HtmlReport {
        run: &run,
        comparisons: &[comparison(&run)],
        devices: None,
        history: &history,
    };
    report.page()
}

/// Returns a page about a run after twelve others, in which the first case was faster before run
/// `step`, counted from one.
pub(super) fn page_after_a_step(step: u32) -> String {
    let mut run = stored(on_gpu());
    run.results.truncate(1);
    let now = run.results[0].stats.as_ref().unwrap().value;
    let entry = |position: u32| {
        let mut entry = past(&run, position);
        let level = if position + 1 < step { 1.0 / 1.09 } else { 1.0 };
        entry.cases[0].value = now * level * (1.0 + f64::from(position % 3) / 1e3);
        entry.cases[0].ci95 = None;
        entry
    };
    let history: Vec<HistoryEntry> = (0..12).map(entry).collect();
    let report = HtmlReport {
        run: &run,
        comparisons: &[],
        devices: None,
        history: &history,
    };
    report.page()
}

/// Returns the same run, with the samples of its first case from three workers.
fn with_workers(mut run: StoredRun) -> StoredRun {
    let first = &mut run.results[0];
    first.samples = (0..30u32)
        .map(|position| 3_640.0 + f64::from(position % 7) * 4.0 + f64::from(position / 10) * 6.0)
        .collect();
    let by_worker: Vec<&[f64]> = first.samples.chunks(10).collect();
    first.stats = summary(&by_worker);
    first.workers = by_worker.into_iter().map(worker_share).collect();
    run
}

/// Returns the results of a run some days ago.
fn past(run: &StoredRun, position: u32) -> HistoryEntry {
    let mut entry = HistoryEntry::from_run(run);
    entry.run_id = format!("past-{position}");
    entry.started_at = format!("2026-11-{:02}T08:00:00Z", position + 1);
    entry.revision = entry.revision.map(|revision| Revision {
        modified: false,
        ..revision
    });
    for case in &mut entry.cases {
        let factor = 1.0 + 0.01 * f64::from(position % 4);
        case.value *= factor;
        case.ci95 = case.ci95.map(|interval| interval.map(|bound| bound * factor));
    }
    entry
}

/// Returns a comparison with every verdict.
pub(super) fn comparison(run: &StoredRun) -> ComparisonComplete {
    let verdicts = [
        (ChangeVerdict::NoChange, 1.0004, None),
        (ChangeVerdict::Regressed, 1.031, None),
        (ChangeVerdict::Improved, 0.42, None),
        (ChangeVerdict::WithinNoise, 1.006, None),
        (
            ChangeVerdict::Inconclusive,
            1.02,
            Some("one worker a side: measure with `--workers 3` at least"),
        ),
        (ChangeVerdict::NotCompared, f64::NAN, Some("crashed in this run")),
    ];
    let rows = run.results.iter().zip(verdicts);
    ComparisonComplete {
        schema_version: SchemaVersion,
        baseline: side(run, "main"),
        candidate: side(run, "this run"),
        arrangement: Arrangement::Apart,
        differences: vec!["driver: 570.86 against 580.159".into()],
        rows: rows
            .map(|(result, (verdict, ratio, remark))| row(result, verdict, ratio, remark))
            .collect(),
        new: vec!["suite::axpy::brand_new".into()],
        removed: vec!["suite::axpy::gone".into(), "suite::softmax::old".into()],
        left_out: None,
    }
}

fn side(run: &StoredRun, name: &str) -> ComparedRun {
    ComparedRun {
        name: name.into(),
        run_id: run.run.run_id.clone(),
        started_at: run.run.started_at.clone(),
        tool_version: run.run.tool_version.clone(),
        device: run.run.device.clone(),
        driver: run.run.environment.driver.clone(),
        revision: run.revision.clone(),
    }
}

fn row(result: &BenchmarkComplete, verdict: ChangeVerdict, ratio: f64, remark: Option<&str>) -> ComparisonRow {
    let median = result.stats.as_ref().map(|stats| stats.value);
    let compared = |value| ComparedResult {
        verdict: result.verdict,
        grade: result.grade,
        value,
        n: 30,
        workers: 3,
        failed_alternating: None,
    };
    ComparisonRow {
        package: result.package.clone(),
        benchmark: result.benchmark.clone(),
        params: result.params.clone(),
        case: result.case.clone(),
        baseline_case: result.case.clone(),
        mode: result.mode,
        metric: result.metric.clone(),
        baseline: compared(median.map(|median| median / ratio)),
        candidate: compared(median),
        verdict,
        remark: remark.map(str::to_owned),
        change: ratio.is_finite().then_some(Change {
            ratio,
            drift: None,
            interval: [ratio * 0.995, ratio * 1.005],
            confidence: 0.99,
            threshold: 0.01,
            threshold_source: ThresholdSource::Floor,
        }),
        functions: Vec::new(),
        machine_code: Vec::new(),
    }
}
