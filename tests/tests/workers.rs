//! The fresh workers of a case: the requested number of processes, one after another. A case fails
//! if any of them fails.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;

use gpubench_tests::{FakeGpu, Fixture, Records, Role, Run, Running, wait_until};
use rustix::process::Signal;
use serde_json::Value;

/// Returns a run of a case whose kernel behaves differently in a second process. Each process takes
/// a number from a pipe.
fn run_of(benchmark: &str, workers: &'static str) -> Run {
    let name = format!("later::{benchmark}::n=600");
    let limits = ["--min-samples", "8", "--max-samples", "8", "--max-time", "1min"];
    let device = ["--flush-bytes", "256KiB", "--threads", "2", "--workers", workers];
    let numbers = "export NUMBERS=$(mktemp -u) && mkfifo \"$NUMBERS\" && exec 9<>\"$NUMBERS\" && printf 123456789 >&9";
    Run::after(numbers, &Fixture::new("hostile"))
        .json()
        .args(["--include-ignored", "--exact", &name])
        .args(limits)
        .args(device)
}

fn samples_of_workers(result: &Value) -> Vec<u64> {
    let workers = result["workers"].as_array().expect("a list").iter();
    workers
        .map(|worker| worker["samples"].as_u64().expect("a number"))
        .collect()
}

#[test]
fn a_case_is_measured_by_the_requested_number_of_processes() {
    for (workers, samples) in [("1", vec![8]), ("3", vec![3, 3, 2]), ("64", vec![1; 8])] {
        let finished = run_of("tells_its_process", workers)
            .args(["--no-capture"])
            .finish()
            .expect_code(0);
        let lines: Vec<&str> = finished
            .stderr
            .lines()
            .filter(|line| line.starts_with("worker | process "))
            .collect();
        let processes: BTreeSet<&str> = lines.iter().copied().collect();
        assert_eq!(
            (lines.len(), processes.len()),
            (samples.len(), samples.len()),
            "{}",
            finished.stderr
        );
        assert_eq!(
            samples_of_workers(finished.records().result("later::tells_its_process")),
            samples
        );
    }
}

#[test]
fn the_cpu_device_has_five_workers_by_default() {
    let records = Run::on(&Fixture::new("hostile"))
        .json()
        .args(["--exact", "later::honest::n=600", "--include-ignored"])
        .args(["--min-samples", "10", "--max-samples", "10", "--flush-bytes", "256KiB"])
        .finish()
        .expect_code(0)
        .records();
    assert_eq!(samples_of_workers(records.result("later::honest")).len(), 5);
}

#[test]
fn every_worker_has_a_value_an_early_check_and_distinct_call_numbers() {
    let records = run_of("honest", "4").finish().expect_code(0).records();
    let result = records.result("later::honest");
    let samples: Vec<f64> = result["samples"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(Value::as_f64)
        .collect();
    assert_eq!(samples.len(), 8);
    for (worker, own) in result["workers"]
        .as_array()
        .expect("a list")
        .iter()
        .zip(samples.chunks(2))
    {
        let value = worker["value"].as_f64().expect("a number");
        assert!(
            (value - (own[0] + own[1]) / 2.0).abs() < 1e-6 * value,
            "{worker} of {own:?}"
        );
    }
    let counts = &result["window_counts"];
    assert!(counts["early_check"].as_u64() >= Some(4), "{counts}");
    assert!(counts["warm_up"].as_u64() >= Some(4), "{counts}");
    assert_eq!(
        result["distinct_inputs"], result["windows"],
        "no worker is given what another had"
    );
}

fn assert_fails_in_the_second(benchmark: &str, verdict: &str, cause: &str, words: &[&str]) -> Value {
    let records: Records = run_of(benchmark, "3")
        .giving_up("hangs", "3s")
        .finish()
        .expect_code(100)
        .records();
    let name = format!("later::{benchmark}");
    records.assert_ends(&name, verdict, cause, words);
    let result = records.result(&name).clone();
    assert_eq!(samples_of_workers(&result), [3, 0], "the third is not started any more");
    result
}

#[test]
fn a_second_worker_that_is_wrong_fails_the_case() {
    let words = ["1 of 600", "`y[417]`"];
    let result = assert_fails_in_the_second("is_wrong_in_the_second_process", "wrong-output", "mismatch", &words);
    assert_eq!(result["stop"], Value::Null);
}

#[test]
fn a_second_worker_that_exits_fails_the_case() {
    let words = ["worker 2 of the case exited with code 3 in call"];
    assert_fails_in_the_second("exits_in_the_second_process", "crashed", "exited", &words);
}

#[test]
fn a_second_worker_that_exits_before_its_first_call_fails_the_case() {
    let words = ["worker 2 of the case exited with code 4 while loading its kernels"];
    assert_fails_in_the_second("exits_when_the_second_process_loads_it", "crashed", "exited", &words);
}

#[test]
fn a_second_worker_that_hangs_fails_the_case() {
    assert_fails_in_the_second("hangs_in_the_second_process", "timeout", "slow", &["3s", "--timeout"]);
}

fn workers_now(running: &Running) -> usize {
    let processes = running.processes();
    processes.iter().filter(|process| process.role == Role::Worker).count()
}

#[test]
fn sealed_workers_on_a_gpu_live_at_the_same_time() {
    let gpu = FakeGpu::new();
    let limits = ["--min-samples", "9", "--max-samples", "9", "--max-time", "1min"];
    let running = gpu
        .run(&Fixture::new("tidy"))
        .json()
        .env("FAKE_CUDA_DELAYS", "one_thread_a_row:30")
        .args([
            "--exact",
            "sums::one_thread_a_row::rows=33,cols=100",
            "--flush-bytes",
            "256KiB",
        ])
        .args(["--workers", "3"])
        .args(limits)
        .start();
    let deadline = std::time::Duration::from_secs(120);
    for living in [3, 0] {
        wait_until("all workers", deadline, || {
            (workers_now(&running) == living).then_some(())
        });
    }
    let records = running.finish().expect_code(0).records();
    assert_eq!(samples_of_workers(records.result("sums::one_thread_a_row")), [3, 3, 3]);
}

#[test]
fn workers_with_user_code_never_run_at_the_same_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut running = run_of("hangs_in_the_second_process", "3")
        .giving_up("hangs", "2s")
        .env("TMPDIR", &folder.path().to_string_lossy())
        .start();
    running.wait_for_record("the case", |record| record["reason"] == "benchmark-started");
    let mut seen = BTreeSet::new();
    wait_until("the end of the case", std::time::Duration::from_secs(60), || {
        let workers = workers_now(&running);
        seen.insert(workers);
        (seen.contains(&1) && workers == 0 && running.processes().is_empty()).then_some(())
    });
    assert!(seen.is_subset(&BTreeSet::from([0, 1])), "{seen:?} at once");
    let _ = running.finish().expect_code(100);
}

#[test]
fn an_interrupt_while_a_later_worker_is_measured_leaves_nothing_behind() {
    let running = run_of("hangs_in_the_second_process", "3")
        .args(["--timeout", "10min"])
        .start();
    let first = running.wait_for_role(Role::Worker).pid;
    wait_until("a second worker", std::time::Duration::from_secs(60), || {
        let processes = running.processes();
        let mut workers = processes.iter().filter(|process| process.role == Role::Worker);
        workers.any(|worker| worker.pid != first).then_some(())
    });
    running.signal(Signal::INT);
    let _ = running.finish().expect_code(130);
}
