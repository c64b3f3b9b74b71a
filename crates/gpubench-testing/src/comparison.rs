//! Hand-made comparisons in which every verdict occurs.

use super::run::{SampleRun, on_gpu};
use gpubench_contract::{Grade, Revision, Verdict, *};
use gpubench_store::testing::gpu;

/// A comparison with every verdict, new and removed benchmarks, and names that are markup.
pub fn every_change() -> ComparisonComplete {
    use ChangeVerdict::*;
    let rows = vec![
        row("axpy::n=1024", NoChange, figures(3_648.0, 1.002, 0.012)),
        row("axpy::n=67108864", Regressed, figures(205_200.0, 1.0304, 0.009)),
        row("softmax::rows=4096", Improved, figures(61_440.0, 0.871, 0.02)),
        row(
            "reduce::tree::len=16777216,op=`max|abs`,dtype=<b>bf16</b>",
            Regressed,
            figures(1_204_000.0, 14.2, 0.02),
        ),
        ComparisonRow {
            remark: Some(
                "the samples cannot rule out a change beyond 5.00%; measure both with more workers, such as `--workers 10`"
                    .into(),
            ),
            ..row("scan::decoupled", Inconclusive, figures(48_000.0, 1.041, 0.07))
        },
        row(
            "transpose::n=4096",
            WithinNoise,
            history(figures(33_000.0, 1.021, 0.01), 0.034),
        ),
        ComparisonRow {
            remark: Some("the candidate ended in `wrong-output`".into()),
            candidate: ComparedResult {
                verdict: Verdict::WrongOutput,
                grade: None,
                value: None,
                n: 3,
                workers: 0,
                failed_alternating: None,
            },
            change: None,
            ..row("gemm::tiled", NowFails, figures(190_464.0, 1.0, 0.0))
        },
        ComparisonRow {
            remark: Some("the baseline was skipped".into()),
            baseline: ComparedResult {
                verdict: Verdict::Skipped,
                grade: None,
                value: None,
                n: 0,
                workers: 0,
                failed_alternating: None,
            },
            change: None,
            ..row("gemm::wgmma", NotCompared, figures(97_280.0, 1.0, 0.0))
        },
        ComparisonRow {
            baseline_case: "conv::direct::k=3".into(),
            ..row("conv::winograd::k=3", NoChange, figures(88_000.0, 0.998, 0.02))
        },
    ];
    ComparisonComplete {
        schema_version: SchemaVersion,
        baseline: run(
            "main",
            "0123456789abcdef0123456789abcdef01234567",
            "main",
            "2026-11-20T13:43:00Z",
        ),
        candidate: ComparedRun {
            run_id: "0f3b".into(),
            tool_version: "0.2.0".into(),
            revision: Some(Revision {
                commit: "89abcdef0123456789abcdef0123456789abcdef".into(),
                branch: Some("faster".into()),
                modified: true,
            }),
            ..run("./after.json", "", "", "2026-11-21T09:12:30Z")
        },
        arrangement: Arrangement::Apart,
        differences: vec!["version of the tool: 0.1.0 in the baseline, 0.2.0 in the candidate".into()],
        rows,
        new: vec!["attention::flash".into()],
        removed: (0..5).map(|n| format!("histogram::bins={}", 64 << n)).collect(),
        left_out: None,
    }
}

/// A run on a GPU with a comparison in which most of its benchmarks have another verdict.
pub fn compared_run() -> SampleRun {
    use ChangeVerdict::*;
    let mut run = on_gpu();
    let verdicts = [
        (Regressed, 1.0304),
        (Improved, 0.871),
        (NoChange, 1.0004),
        (Inconclusive, 1.041),
    ];
    let passed = run.results.iter().filter(|result| result.verdict == Verdict::Pass);
    let mut rows: Vec<ComparisonRow> = passed
        .zip(verdicts)
        .map(|(result, (verdict, ratio))| {
            let remark = (verdict == Inconclusive).then(|| "the samples cannot rule out a change beyond 5.00%".into());
            ComparisonRow {
                remark,
                ..row_of(result, verdict, figures(3_648.0, ratio, 0.012))
            }
        })
        .collect();
    let failed = run.results.iter().filter(|result| result.verdict.is_failure());
    rows.extend(failed.map(|result| ComparisonRow {
        remark: Some(format!("the candidate ended in `{}`", result.verdict)),
        change: None,
        ..row_of(result, NowFails, figures(3_648.0, 1.0, 0.0))
    }));
    let is_new = |result: &&BenchmarkComplete| rows.iter().all(|row| !row.is_of(result));
    let new = run.results.iter().filter(is_new).map(BenchmarkComplete::label);
    run.comparison = Some(ComparisonComplete {
        new: new.collect(),
        rows,
        ..every_change()
    });
    run
}

/// A comparison in which nothing may be compared.
pub fn on_another_device() -> ComparisonComplete {
    let difference = "device: NVIDIA H200 in the baseline, NVIDIA B200 in the candidate";
    let mut comparison = every_change();
    comparison.differences = vec![difference.into()];
    comparison.candidate.device.name = "NVIDIA B200".into();
    comparison.new.clear();
    comparison.removed.clear();
    comparison.rows.truncate(3);
    for row in &mut comparison.rows {
        row.verdict = ChangeVerdict::NotCompared;
        row.change = None;
        row.remark = Some(format!("measured differently: {difference}"));
    }
    comparison
}

fn run(name: &str, commit: &str, branch: &str, started_at: &str) -> ComparedRun {
    ComparedRun {
        name: name.into(),
        run_id: "0f3a".into(),
        started_at: started_at.into(),
        tool_version: "0.1.0".into(),
        device: gpu(),
        driver: Some("580.159 (CUDA 13.0)".into()),
        revision: Some(Revision {
            commit: commit.into(),
            branch: Some(branch.into()),
            modified: false,
        }),
    }
}

/// The medians of both sides and the change between them.
fn figures(baseline: f64, ratio: f64, reach: f64) -> (f64, Change) {
    let change = Change {
        ratio,
        drift: Some(1.004),
        interval: [ratio / (1.0 + reach), ratio * (1.0 + reach)],
        confidence: 0.99,
        threshold: 0.01,
        threshold_source: ThresholdSource::Floor,
    };
    (baseline, change)
}

fn history((baseline, change): (f64, Change), threshold: f64) -> (f64, Change) {
    let change = Change {
        threshold,
        threshold_source: ThresholdSource::History,
        ..change
    };
    (baseline, change)
}

fn row_of(candidate: &BenchmarkComplete, verdict: ChangeVerdict, figures: (f64, Change)) -> ComparisonRow {
    ComparisonRow {
        package: candidate.package.clone(),
        benchmark: candidate.benchmark.clone(),
        params: candidate.params.clone(),
        mode: candidate.mode,
        ..row(&candidate.case, verdict, figures)
    }
}

fn row(case: &str, verdict: ChangeVerdict, (baseline, change): (f64, Change)) -> ComparisonRow {
    let result = |value| ComparedResult {
        verdict: Verdict::Pass,
        grade: Some(Grade::Sealed),
        value: Some(value),
        n: 60,
        workers: 5,
        failed_alternating: None,
    };
    ComparisonRow {
        package: "suite".into(),
        benchmark: case.split("::").next().unwrap_or(case).into(),
        params: Params::default(),
        case: case.into(),
        baseline_case: case.into(),
        mode: Mode::Cold,
        metric: Metric::time(),
        baseline: result(baseline),
        candidate: result(baseline * change.ratio),
        verdict,
        remark: None,
        change: Some(change),
        functions: Vec::new(),
        machine_code: Vec::new(),
    }
}
