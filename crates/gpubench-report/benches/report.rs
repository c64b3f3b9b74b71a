//! Time to render the HTML page, and its size: 200 benchmarks with 200 or 1 000 samples each, a
//! baseline and a history of a hundred runs.
//!
//! `cargo bench -p gpubench-report --bench report` prints both.

use std::time::Instant;

use gpubench_contract::{
    AllowedError, Amounts, Arrangement, BenchmarkComplete, BenchmarkStarted, Check, Conservation, Device, DeviceKind,
    Environment, Execution, GpuEnvironment, GpuState, Grade, HostTime, Metric, Mode, ParamValue, Params, Peaks,
    RunStarted, SchemaVersion, Stop, StopReason, Throughput, Verdict, WindowCounts, WorkerShare,
};
use gpubench_report::HtmlReport;
use gpubench_stats::summary;
use gpubench_store::StoredRun;
use gpubench_store::compare::{NamedRun, Rules, compare};
use gpubench_store::history::HistoryEntry;

const BENCHMARKS: u64 = 200;
const WORKERS: usize = 5;
const PAST: usize = 100;

fn main() {
    println!("| samples a case | time in ms | page in MB |");
    println!("|--:|--:|--:|");
    for samples in [200, 1_000] {
        let (baseline, candidate) = (run("old", samples), run("new", samples));
        let comparison = compare(
            NamedRun {
                name: "main",
                run: &baseline,
            },
            NamedRun {
                name: "this run",
                run: &candidate,
            },
            Arrangement::Apart,
            &Rules::default(),
        );
        let history: Vec<HistoryEntry> = (0..PAST).map(|past| entry(&baseline, past)).collect();
        let began = Instant::now();
        let report = HtmlReport {
            run: &candidate,
            comparisons: &[comparison],
            devices: None,
            history: &history,
        };
        let page = report.page();
        let took = began.elapsed();
        println!(
            "| {samples} | {:.1} | {:.2} |",
            took.as_secs_f64() * 1e3,
            page.len() as f64 / 1e6
        );
    }
}

fn entry(run: &StoredRun, past: usize) -> HistoryEntry {
    HistoryEntry {
        run_id: format!("past-{past}"),
        ..HistoryEntry::from_run(run)
    }
}

fn run(id: &str, samples: usize) -> StoredRun {
    let mut noise = fastrand::Rng::with_seed(id.len() as u64 + samples as u64);
    let results = (0..BENCHMARKS)
        .map(|index| result(id, index, samples, &mut noise))
        .collect();
    let started = RunStarted {
        schema_version: SchemaVersion,
        run_id: id.to_owned(),
        started_at: "2026-11-21T12:00:00Z".to_owned(),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        seed_commitment: "00".repeat(32),
        revision: None,
        device: device(),
        packages: vec!["suite".to_owned()],
        cases: BENCHMARKS,
        environment: environment(),
        repeat: None,
        grading: None,
        resumption: None,
    };
    StoredRun::new(started, results, None, None)
}

fn result(id: &str, index: u64, samples: usize, noise: &mut fastrand::Rng) -> BenchmarkComplete {
    let params = Params(vec![("n".to_owned(), ParamValue::Int(1 << (10 + index % 16)))]);
    let benchmark = format!("module_{}::kernel_{}", index / 20, index / 4);
    let started = BenchmarkStarted {
        schema_version: SchemaVersion,
        run_id: id.to_owned(),
        package: "suite".to_owned(),
        case: format!("{benchmark}::{params}"),
        benchmark,
        params,
        mode: Mode::Cold,
        metric: Metric::time(),
        counters: Vec::new(),
        index,
    };
    let center = 1e4 * (1.0 + index as f64);
    let taken: Vec<f64> = (0..samples)
        .map(|_| center * (1.0 + 0.02 * (noise.f64() + noise.f64() - 1.0)))
        .collect();
    let stats = summary(&[&taken]).expect("samples");
    let work = Amounts::declared(Some(1 << 24), Some(1 << (20 + index % 10)));
    let peaks = Peaks {
        bandwidth: device().peak_bandwidth,
        flops: device().peak_flops,
    };
    let elements = 1 << 20;
    BenchmarkComplete {
        problem: Some(format!("problem_{}", index / 8)),
        grade: Some(Grade::Sealed),
        execution: Some(Execution::Sealed),
        workers: vec![
            WorkerShare {
                samples: (samples / WORKERS) as u64,
                value: None,
                placements: Vec::new(),
            };
            WORKERS
        ],
        throughput: Throughput::new(work, stats.value, peaks),
        stats: Some(stats),
        host_ns: Some(HostTime {
            median_ns: 1_000.0,
            min_ns: 900.0,
            max_ns: 1_100.0,
        }),
        event_overhead_ns: Some(1_280.0),
        stop: Some(Stop {
            reason: StopReason::MaxSamples,
            target_cv: 0.01,
        }),
        checks: vec![Check {
            output: "y".to_owned(),
            elements,
            matched: elements,
            mismatched: 0,
            tolerance: Some(AllowedError {
                rtol: 1e-5,
                atol: 0.0,
                mismatched: None,
            }),
            stale_output_passes: Some(false),
            max_abs_error: Some(1.2e-7),
            median_abs_error: Some(6.0e-8),
            max_rel_error: Some(5.9e-8),
            worst_index: Some(17),
            shape: vec![1 << 10, 1 << 10],
            first_wrong: None,
            wrong: Vec::new(),
            pattern: None,
        }],
        windows: samples as u64 + 40,
        window_counts: WindowCounts {
            warm_up: 20,
            timed: samples as u64,
            early_check: 20,
            parts: 0,
            single: 0,
            control: 40,
            retaken: 0,
            energy: 0,
        },
        distinct_inputs: samples as u64 + 40,
        conservation: Some(Conservation {
            claimed_ns: center,
            observed_ns: center + 291_000.0,
            control_ns: Some(290_500.0),
            verified_ns: Some(center + 500.0),
            added_ns: Some(0.0),
            excess_ns: Some(500.0),
            bound_ns: Some(2_400.0),
            residuals_ns: vec![291_000; samples],
            control_residuals_ns: vec![290_500; samples / 10],
            control_shares: vec![samples as u64 / 10],
        }),
        environment: environment(),
        wall_ns: 310_000_000,
        samples: taken,
        ..BenchmarkComplete::unmeasured(&started, device().short(), Verdict::Pass)
    }
}

fn device() -> Device {
    Device {
        kind: DeviceKind::Cuda,
        name: "Example GPU".to_owned(),
        multiprocessors: Some(132),
        capability: Some(90),
        l2_bytes: Some(60 << 20),
        clock_tick_ns: Some(32.0),
        peak_bandwidth: Some(4.8e12),
        peak_flops: Some(67e12),
        peak_arithmetic: None,
        uuids: Vec::new(),
    }
}

fn environment() -> Environment {
    let state = GpuState {
        clock_hz: Some(1.98e9),
        memory_clock_hz: Some(3.2e9),
        temperature_c: Some(33.0),
        power_w: Some(131.0),
        throttle_reasons: Some(Vec::new()),
    };
    Environment {
        kernel: Some("6.8.0".to_owned()),
        cpu: Some("Example Processor".to_owned()),
        cpus: Some(16),
        load_1m: Some(0.5),
        flush_bytes: Some(120 << 20),
        throttle_reasons: Some(Vec::new()),
        gpu: Some(GpuEnvironment {
            before: state.clone(),
            after: Some(state),
            ..GpuEnvironment::default()
        }),
        ..Environment::default()
    }
}
