//! Stored runs with simulated samples, as a GPU would produce them.

use crate::StoredRun;
use gpubench_contract::{
    ArithmeticPeaks, BenchmarkComplete, BenchmarkStarted, Device, DeviceKind, Environment, Execution, Grade, Metric,
    Mode, Params, RunEnd, RunFinished, RunStarted, SchemaVersion, Verdict,
};
use gpubench_stats::{summary, twin, worker_share};

use super::samples::{Noise, Shifts, TwoLevel};

/// Workers that hardly differ.
pub const QUIET: TwoLevel = TwoLevel {
    name: "quiet",
    shifts: Shifts::Normal(0.002),
    noise: Noise::Normal(0.01),
};

/// The number of samples of each benchmark.
#[derive(Clone, Copy)]
pub struct Size {
    /// Number of workers.
    pub workers: usize,
    /// Number of samples of each worker.
    pub samples: usize,
}

/// The twin's times in each round on a machine without drift, in nanoseconds.
pub const STEADY: [&[f64]; 3] = [&[50_000.0], &[50_010.0], &[49_990.0]];

/// Returns a run of benchmarks with the given medians in nanoseconds.
pub fn run(seed: u64, benchmarks: &[(&str, f64)], size: Size) -> StoredRun {
    let mut random = fastrand::Rng::with_seed(seed);
    let run_id = format!("{seed:016x}");
    let results: Vec<BenchmarkComplete> = benchmarks
        .iter()
        .enumerate()
        .map(|(index, (name, center))| {
            let workers = QUIET.side(&mut random, size.workers, size.samples, *center);
            result(&run_id, index as u64, name, &workers)
        })
        .collect();
    let finished = RunFinished {
        schema_version: SchemaVersion,
        run_id: run_id.clone(),
        passed: results.len() as u64,
        failed: 0,
        skipped: 0,
        not_run: 0,
        seed: "00".repeat(32),
        end: RunEnd::Completed,
        wall_ns: 1_000_000_000,
    };
    let started = RunStarted {
        schema_version: SchemaVersion,
        run_id,
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
    };
    StoredRun::new(started, results, Some(finished), None)
}

/// Returns the run with another name of the GPU.
#[allow(dead_code, reason = "not every test has two devices")]
pub fn on_gpu(name: &str, mut run: StoredRun) -> StoredRun {
    run.run.device.name = name.into();
    for result in &mut run.results {
        result.device.name = name.into();
    }
    run
}

fn result(run_id: &str, index: u64, name: &str, workers: &[Vec<f64>]) -> BenchmarkComplete {
    let started = BenchmarkStarted {
        schema_version: SchemaVersion,
        run_id: run_id.into(),
        package: "suite".into(),
        benchmark: name.into(),
        params: Params::default(),
        case: name.into(),
        mode: Mode::Cold,
        metric: Metric::time(),
        counters: Vec::new(),
        index,
    };
    let by_worker: Vec<&[f64]> = workers.iter().map(Vec::as_slice).collect();
    let samples = workers.concat();
    BenchmarkComplete {
        grade: Some(Grade::Sealed),
        execution: Some(Execution::Sealed),
        stats: summary(&by_worker),
        workers: by_worker.into_iter().map(worker_share).collect(),
        twin: twin(&STEADY),
        samples,
        environment: environment(),
        ..BenchmarkComplete::unmeasured(&started, gpu().short(), Verdict::Pass)
    }
}

/// Returns the GPU of these runs.
pub fn gpu() -> Device {
    Device {
        kind: DeviceKind::Cuda,
        name: "NVIDIA H200".into(),
        multiprocessors: Some(132),
        capability: Some(90),
        l2_bytes: Some(60 << 20),
        clock_tick_ns: Some(32.0),
        peak_bandwidth: Some(4.8e12),
        peak_flops: None,
        uuids: Vec::new(),
        peak_arithmetic: Some(ArithmeticPeaks {
            f32: Some(66.9e12),
            bf16: Some(1_070e12),
            ..ArithmeticPeaks::default()
        }),
    }
}

fn environment() -> Environment {
    Environment {
        driver: Some("580.159 (CUDA 13.0)".into()),
        flush_bytes: Some(120 << 20),
        ..Environment::default()
    }
}
