//! How long a stored run of 1 000 cases with 200 samples each takes to save, to read and to check, and a history of 500 runs of 100 cases to append to.
#![forbid(unsafe_code)]

use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use cargo_gpubench::report::{
    BenchmarkComplete, BenchmarkStarted, Device, DeviceKind, DeviceName, Environment, ParamValue, Params, RunEnd,
    RunFinished, RunStarted, SchemaVersion, Stats, WorkerShare,
};
use cargo_gpubench::stats::{Summary, median};
use cargo_gpubench::store::history::{HistoryCase, HistoryEntry, MOST_RUNS, append, of_device};
use cargo_gpubench::store::{DeviceIdentity, StoredRun, read, save};
use cargo_gpubench::verdict::Verdict;

const CASES: i64 = 1000;
const SAMPLES: usize = 200;
const WORKERS: usize = 5;
const RUN_ID: &str = "0f3a";

fn main() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = Utf8PathBuf::from_path_buf(folder.path().to_owned()).expect("UTF-8");
    let file = folder.join("run.json");
    let stored = run();
    println!("{CASES} cases with {SAMPLES} samples from {WORKERS} workers each");
    print("save", || save(&file, &stored).expect("saved"));
    println!("  {} bytes", file.metadata().expect("it is there").len());
    print("save over it", || save(&file, &stored).expect("saved"));
    print("read and check", || {
        assert_eq!(read(&file).expect("it is one").results.len(), stored.results.len());
    });
    let identity = DeviceIdentity::of(&stored.run);
    let entry = entry();
    for _ in 0..MOST_RUNS {
        append(&folder, &identity, &entry).expect("appended");
    }
    println!("a history of {MOST_RUNS} runs of {} cases", entry.cases.len());
    print("append", || {
        append(&folder, &identity, &entry).expect("appended");
    });
    print("read", || {
        assert!(of_device(&folder, &identity).expect("it is one").is_some());
    });
}

/// The median of nine times.
fn print(what: &str, mut action: impl FnMut()) {
    let mut times: Vec<Duration> = (0..9)
        .map(|_| {
            let began = Instant::now();
            action();
            began.elapsed()
        })
        .collect();
    times.sort();
    println!("  {what}: {:.1} ms", times[times.len() / 2].as_secs_f64() * 1e3);
}

fn run() -> StoredRun {
    let device = Device {
        kind: DeviceKind::Cuda,
        name: "Example GPU".to_owned(),
        multiprocessors: Some(132),
        capability: Some(90),
        l2_bytes: Some(60 << 20),
        clock_tick_ns: Some(32.0),
        peak_bandwidth: None,
        peak_flops: None,
    };
    let results: Vec<BenchmarkComplete> = (0..CASES).map(|n| result(n, device.short())).collect();
    let started = RunStarted {
        schema_version: SchemaVersion,
        run_id: RUN_ID.to_owned(),
        started_at: "2026-11-20T13:43:00Z".to_owned(),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        seed_commitment: "00".repeat(32),
        device,
        packages: vec!["suite".to_owned()],
        cases: CASES as u64,
        environment: Environment::default(),
    };
    let finished = RunFinished {
        schema_version: SchemaVersion,
        run_id: RUN_ID.to_owned(),
        passed: CASES as u64,
        failed: 0,
        skipped: 0,
        not_run: 0,
        seed: "00".repeat(32),
        end: RunEnd::Completed,
        wall_ns: 1,
    };
    StoredRun::of(started, results, Some(finished), None)
}

fn result(n: i64, device: DeviceName) -> BenchmarkComplete {
    let mut random = fastrand::Rng::with_seed(n as u64);
    let samples: Vec<f64> = (0..SAMPLES).map(|_| 1000.0 * (1.0 + random.f64())).collect();
    let workers = samples.chunks(SAMPLES / WORKERS).map(|own| WorkerShare {
        samples: own.len() as u64,
        median_ns: median(own),
    });
    let started = BenchmarkStarted {
        schema_version: SchemaVersion,
        run_id: RUN_ID.to_owned(),
        package: "suite".to_owned(),
        benchmark: "axpy::add_one".to_owned(),
        params: Params(vec![("n".to_owned(), ParamValue::Int(n))]),
        case: format!("axpy::add_one::n={n}"),
        index: n as u64,
    };
    BenchmarkComplete {
        workers: workers.collect(),
        stats: Summary::of(&samples).as_ref().map(Stats::from),
        samples_ns: samples,
        ..BenchmarkComplete::unmeasured(&started, device, Verdict::Pass)
    }
}

fn entry() -> HistoryEntry {
    let case = |n: u32| HistoryCase {
        case: format!("suite::axpy::add_one::n={n}"),
        median_ns: 3648.123,
        ci95_ns: [3640.5, 3660.25],
        n: 200,
        workers: 5,
    };
    HistoryEntry {
        run_id: RUN_ID.to_owned(),
        started_at: "2026-11-20T13:43:00Z".to_owned(),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        revision: None,
        cases: (0..100).map(case).collect(),
    }
}
