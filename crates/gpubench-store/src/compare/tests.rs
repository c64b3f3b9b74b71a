//! Tests of all rules of a comparison, on hand-made runs.

mod devices;
mod ended;
mod matching;
mod metrics;
mod setups;
mod thresholds;
mod turns;
mod twins;
mod verdicts;
mod workers;

use regex::Regex;

use super::*;
use crate::testing::{Noise, STEADY, Shifts, TwoLevel};
use crate::{FORMAT, FORMAT_VERSION, StoredRun};
use gpubench_contract::{Cause, Grade, Revision, Verdict, *};
use gpubench_stats::{Confidence, InterimAnalyses, summary, twin};
use gpubench_testing::gpu;

/// The samples of most cases: three quiet workers of 20 samples each.
const QUIET: TwoLevel = TwoLevel {
    name: "quiet",
    shifts: Shifts::Normal(0.001),
    noise: Noise::Normal(0.005),
};

fn run(results: Vec<BenchmarkComplete>) -> StoredRun {
    StoredRun {
        format: FORMAT.into(),
        format_version: FORMAT_VERSION,
        saved_at: "2026-11-20T13:44:00Z".into(),
        revision: Some(Revision {
            commit: "0123456789abcdef0123456789abcdef01234567".into(),
            branch: Some("main".into()),
            modified: false,
        }),
        run: RunStarted {
            schema_version: SchemaVersion,
            run_id: "0f3a".into(),
            started_at: "2026-11-20T13:43:00Z".into(),
            tool_version: "0.1.0".into(),
            seed_commitment: "00".repeat(32),
            revision: None,
            device: gpu(),
            packages: vec!["suite".into()],
            cases: results.len() as u64,
            environment: environment(),
            repeat: None,
            grading: None,
            resumption: None,
        },
        results,
        finished: None,
    }
}

fn environment() -> Environment {
    Environment {
        driver: Some("580.159".into()),
        cpu: Some("Example Processor 9000".into()),
        flush: Some(Flush::Read),
        flush_bytes: Some(120 << 20),
        threads: Some(1),
        ..Environment::default()
    }
}

fn result(name: &str, verdict: Verdict) -> BenchmarkComplete {
    let started = BenchmarkStarted {
        schema_version: SchemaVersion,
        run_id: "0f3a".into(),
        package: "suite".into(),
        benchmark: name.into(),
        params: Params::default(),
        case: name.into(),
        mode: Mode::Cold,
        metric: Metric::time(),
        counters: Vec::new(),
        index: 0,
    };
    BenchmarkComplete {
        environment: environment(),
        ..BenchmarkComplete::unmeasured(&started, gpu().short(), verdict)
    }
}

/// Returns a result that passed, with the samples of some workers.
fn passed(name: &str, workers: &[Vec<f64>]) -> BenchmarkComplete {
    BenchmarkComplete {
        grade: Some(Grade::Sealed),
        execution: Some(Execution::Sealed),
        samples: workers.concat(),
        workers: workers
            .iter()
            .map(|samples| WorkerShare {
                samples: samples.len() as u64,
                value: gpubench_stats::median(samples),
                placements: Vec::new(),
            })
            .collect(),
        twin: twin(&STEADY),
        ..result(name, Verdict::Pass)
    }
}

/// Returns a quiet result around `center` nanoseconds. The name is the seed.
fn quiet(name: &str, center: f64) -> BenchmarkComplete {
    let seed = name
        .bytes()
        .fold(center.to_bits(), |seed, byte| seed.rotate_left(7) ^ u64::from(byte));
    passed(name, &QUIET.side(&mut fastrand::Rng::with_seed(seed), 3, 20, center))
}

fn with_params(params: &[(&str, i64)], result: BenchmarkComplete) -> BenchmarkComplete {
    let params = params
        .iter()
        .map(|(name, value)| ((*name).to_owned(), ParamValue::Int(*value)));
    let params = Params(params.collect());
    BenchmarkComplete {
        case: format!("{}::{params}", result.benchmark),
        params,
        ..result
    }
}

fn compared(baseline: &StoredRun, candidate: &StoredRun, rules: &Rules) -> ComparisonComplete {
    let mut candidate = candidate.clone();
    candidate.run.run_id = "0f3b".into();
    separate(baseline, &candidate, rules)
}

fn separate(baseline: &StoredRun, candidate: &StoredRun, rules: &Rules) -> ComparisonComplete {
    let named = |name, run| NamedRun { name, run };
    compare(
        named("before", baseline),
        named("after", candidate),
        Arrangement::Apart,
        rules,
    )
}

/// Returns the only row of a comparison of two results.
fn row_of(baseline: BenchmarkComplete, candidate: BenchmarkComplete, rules: &Rules) -> ComparisonRow {
    let mut rows = compared(&run(vec![baseline]), &run(vec![candidate]), rules).rows;
    assert_eq!(rows.len(), 1);
    rows.remove(0)
}

fn remark(row: &ComparisonRow) -> &str {
    row.remark.as_deref().unwrap_or_default()
}

/// Returns a result whose workers differ too much for a verdict.
fn restless(workers: usize) -> BenchmarkComplete {
    let medians = [1e5, 1.4e5, 1.2e5, 0.9e5].into_iter().cycle();
    passed(
        "axpy",
        &medians.take(workers).map(|median| vec![median; 5]).collect::<Vec<_>>(),
    )
}

/// Returns rules that match benchmarks by the groups of an expression.
fn grouped(expression: &str) -> Rules {
    Rules {
        matching: Matching::Groups(Regex::new(expression).unwrap()),
        ..Rules::default()
    }
}
