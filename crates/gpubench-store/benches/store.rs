//! Measures how long it takes to save, read and check a stored run of 1 000 cases with 200 samples
//! each, and to append to a history of 500 runs of 100 cases.
//!
//! `cargo bench -p gpubench-store --bench store` prints the median of nine runs.
#![forbid(unsafe_code)]

#[allow(dead_code)]
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use gpubench_contract::{DeviceIdentity, Metric, Mode};
use gpubench_store::history::{HistoryCase, HistoryEntry, MOST_RUNS, append, of_device};
use gpubench_store::testing::{Size, run};
use gpubench_store::{read, save};

const SIZE: Size = Size {
    workers: 5,
    samples: 40,
};

fn main() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = Utf8PathBuf::from_path_buf(folder.path().to_owned()).expect("UTF-8");
    let file = folder.join("run.json");
    let names: Vec<String> = (0..1_000).map(|index| format!("bench_{index}")).collect();
    let benchmarks: Vec<(&str, f64)> = names.iter().map(|name| (name.as_str(), 1e5)).collect();
    let stored = run(1, &benchmarks, SIZE);
    println!("1 000 cases with 200 samples each");
    print("save", || save(&file, &stored).expect("it is saved"));
    println!("  {} bytes", file.metadata().expect("it is there").len());
    print("read and check", || {
        assert_eq!(read(&file).expect("it is one").results.len(), stored.results.len());
    });
    let identity = DeviceIdentity::from_run(&stored.run);
    let entry = entry();
    for _ in 0..MOST_RUNS {
        append(&folder, &identity, &entry).expect("it is appended");
    }
    println!("a history of {MOST_RUNS} runs of {} cases", entry.cases.len());
    print("append, and drop the oldest", || {
        append(&folder, &identity, &entry).expect("it is appended");
    });
    print("read", || {
        assert!(of_device(&folder, &identity).expect("it is one").is_some());
    });
}

/// Prints the median time of nine runs.
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

fn entry() -> HistoryEntry {
    let case = |n: u32| HistoryCase {
        case: format!("suite::axpy::add_one::n={n}"),
        mode: Mode::Cold,
        metric: Metric::time(),
        gpu: None,
        twin_ns: None,
        value: 3648.123,
        ci95: Some([3640.5, 3660.25]),
        n: 200,
        workers: 5,
    };
    HistoryEntry {
        run_id: "0f3a".to_owned(),
        started_at: "2026-11-20T13:43:00Z".to_owned(),
        tool_version: "0.1.0".to_owned(),
        revision: None,
        cases: (0..100).map(case).collect(),
    }
}
