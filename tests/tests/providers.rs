//! References that are commands.
#![forbid(unsafe_code)]

use std::process::Command;
use std::time::{Duration, Instant};

use gpubench_tests::{BareMachine, Fixture, Run};
use rustix::process::Signal;
use serde_json::Value;

fn run() -> Run {
    Run::on(&Fixture::new("providers")).args(["--device", "cpu"])
}

/// Tests a benchmark and returns its result.
fn tested(name: &str) -> Value {
    let name = format!("^{name}::");
    let finished = run().json().args(["--test", "--include-ignored", &name]).finish();
    let records = finished.records();
    let mut results = records.results();
    let only = results.next().cloned();
    assert_eq!(results.count(), 0, "several results of {name}");
    only.unwrap_or_else(|| panic!("no result of {name}: {}", finished.stderr))
}

/// Fails with the words for a missing program, if Debian's Python lacks a module.
fn need(module: &str) {
    let import = format!("import {module}");
    let ran = Command::new("/usr/bin/python3").args(["-c", &import]).output();
    assert!(
        ran.is_ok_and(|ran| ran.status.success()),
        "this test needs Debian's python3-{module}, which this machine lacks"
    );
}

#[test]
fn a_kernel_is_checked_against_what_a_command_computed() {
    assert_eq!(tested("one_thread_a_row")["verdict"], "pass");
    let wrong = tested("of_other_rows");
    assert_eq!(
        (&wrong["verdict"], &wrong["cause"]),
        (&"wrong-output".into(), &"partial".into())
    );
}

#[test]
fn a_command_gets_constants_overwritten_tensors_and_inputs_of_a_function() {
    assert_eq!(tested("add")["verdict"], "pass");
}

#[test]
fn a_softmax_of_numpy_is_a_reference() {
    need("numpy");
    assert_eq!(tested("by_numpy")["verdict"], "pass");
}

#[test]
fn a_softmax_of_pytorch_is_a_reference() {
    need("torch");
    assert_eq!(tested("by_torch")["verdict"], "pass");
}

/// Measures a benchmark with three workers, in two modes. Both must pass. Returns the number of
/// calls and of different inputs with `cold`.
fn calls_and_inputs(name: &str) -> (u64, u64) {
    let args = ["--workers", "3", "--max-samples", "60", "--mode", "cold,hot", name];
    let finished = run().json().args(args).finish().expect_code(0);
    let records = finished.records();
    let results: Vec<&Value> = records.results().collect();
    assert!(results.iter().all(|result| result["verdict"] == "pass"), "{results:?}");
    let [cold, _] = results[..] else { panic!("{results:?}") };
    let kinds = ["warm_up", "timed", "early_check", "parts", "single", "energy"];
    let calls = kinds.map(|kind| cold["window_counts"][kind].as_u64().unwrap_or_default());
    let distinct = cold["distinct_inputs"].as_u64().unwrap_or_default();
    (calls.iter().sum(), distinct)
}

#[test]
fn workers_share_the_sets_of_a_case_and_none_gets_one_twice() {
    // What the command computed, and what a slow function did.
    for name in ["one_thread_a_row", "add_slowly"] {
        let (calls, distinct) = calls_and_inputs(name);
        // Three workers with as many calls each, or nearly.
        assert!(
            distinct < calls && calls <= 3 * distinct,
            "{name}: {calls} calls, {distinct} inputs"
        );
    }
}

#[test]
fn a_command_runs_once_for_modes_with_as_many_calls() {
    let folder = tempfile::tempdir().expect("a folder");
    let runs = folder.path().join("runs");
    let modes = ["--mode", "cold,warm,hot,hot-graph", "--calls-per-sample", "4"];
    let finished = run()
        .json()
        .env("RUNS", runs.to_str().expect("UTF-8"))
        .args([
            "--workers",
            "2",
            "--max-samples",
            "8",
            "--include-ignored",
            "^by_a_counted_one::",
        ])
        .args(modes)
        .finish()
        .expect_code(0);
    let records = finished.records();
    let verdicts: Vec<&Value> = records.results().map(|result| &result["verdict"]).collect();
    assert_eq!(verdicts, ["pass"; 4]);
    let runs = std::fs::read_to_string(runs).expect("it ran").lines().count();
    assert_eq!(runs, 2, "one for a call at a time, one for four");
}

#[test]
fn each_failure_of_a_command_says_what_to_mend() {
    for (name, expected) in [
        ("by_a_missing_program", "(hint: the program must be on the `PATH`"),
        (
            "by_a_failing_one",
            "ended with exit status 7; it last wrote:\n    no weights here",
        ),
        (
            "by_one_without_outputs",
            "wrote no outputs (hint: its last argument is the path for them",
        ),
        ("by_a_copy_of_the_inputs", "there is no tensor `y`: it has `x`"),
        (
            "by_a_damaged_file",
            "it is not a safetensors file: its header would have",
        ),
        ("by_a_link", "reading its outputs: "),
        ("by_another_shape", "`y`: its shape is [4224], not [16, 8, 33]"),
        ("by_another_type", "`y`: it holds i32, not f32"),
        ("by_numbers_that_are_none", "has a NaN at element 0 of set 0"),
    ] {
        let result = tested(name);
        let message = result["message"].as_str().expect("a message");
        assert_eq!(result["cause"], "reference-failed", "{name}: {message}");
        assert!(message.contains(expected), "{name}: {message}");
    }
}

#[test]
fn a_command_that_does_not_end_is_ended_with_its_children() {
    let limit = [
        "--test",
        "--include-ignored",
        "--reference-timeout",
        "1s",
        "by_a_silent_one",
    ];
    let finished = run().json().args(limit).finish();
    let records = finished.records();
    let result = records.results().next().expect("a result");
    assert_eq!(result["cause"], "reference-timeout");
}

#[test]
fn an_interrupt_ends_a_command() {
    let args = [
        "--test",
        "--include-ignored",
        "--reference-timeout",
        "10min",
        "by_a_silent_one",
    ];
    let mut running = run().json().args(args).start();
    running.wait_for_record("the case", |record| record["reason"] == "benchmark-started");
    let began = Instant::now();
    running.signal(Signal::INT);
    let finished = running.finish().expect_code(130);
    assert_eq!(finished.records().the("run-finished")["end"], "interrupted");
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
}

#[test]
fn an_archive_does_not_bring_a_command_to_run() {
    let archive = Fixture::target_directory().join(format!("providers-{}.tar.gz", std::process::id()));
    let made = Run::archiving(&Fixture::new("providers"), &archive)
        .finish()
        .expect_code(0);
    assert_eq!(made.stdout, "");
    let machine = BareMachine::with_a_cpp_compiler();
    let finished = machine
        .run(&archive)
        .json()
        .args(["--test", "one_thread_a_row"])
        .finish();
    let records = finished.records();
    let result = records.results().next().expect("a result");
    let message = result["message"].as_str().expect("a message");
    assert_eq!(result["cause"], "reference-failed");
    assert!(message.contains("no command of an archive is run"), "{message}");
}
