//! `cargo gpubench calibrate`: kernels of known length, measured as any case.
#![forbid(unsafe_code)]

use gpubench_tests::{BareMachine, FakeGpu, Finished, Fixture, Run};
use serde_json::Value;

/// Returns a calibration on a machine without programs: no cargo, no compiler, no crate.
fn calibrate(machine: &BareMachine) -> Run {
    Run::outside_of_workspaces(&machine.work)
        .args(["calibrate", "--max-time", "20ms"])
        .env("PATH", machine.programs.as_str())
        .env("CXX", "/no/such/compiler")
}

/// Returns the lengths of the calibration's kinds of times, by mode and kind.
fn lengths(finished: &Finished) -> Vec<(String, Vec<Value>)> {
    let records = finished.records();
    let methods = records.the("calibration-complete")["methods"]
        .as_array()
        .expect("a list");
    let text = |value: &Value| value.as_str().expect("a word").to_owned();
    let kind = |method: &Value| format!("{} {}", text(&method["mode"]), text(&method["times"]));
    methods
        .iter()
        .map(|method| (kind(method), method["lengths"].as_array().expect("a list").clone()))
        .collect()
}

#[test]
fn known_lengths_lie_within_what_each_mode_says_of_them() {
    let machine = BareMachine::new();
    let run = calibrate(&machine).args(["--device", "cpu", "--message-format", "json"]);
    let finished = run.finish().expect_code(0);
    let lengths = lengths(&finished);
    let kinds: Vec<&str> = lengths.iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(
        kinds,
        [
            "cold value",
            "warm value",
            "hot value",
            "graph value",
            "graph single-calls"
        ]
    );
    for (kind, lengths) in &lengths {
        assert_eq!(lengths.len(), 5, "{kind}");
        for length in lengths {
            assert_eq!(length["standing"], "within", "{kind}: {length}");
            assert_eq!(length["reported"].as_array().map(Vec::len), Some(2), "{kind}: {length}");
            let (least, known) = (length["least_ns"].as_f64(), length["known_ns"].as_f64());
            assert!(known >= least, "{kind}: {length}");
            // Busy processors interrupt kernels too, but hardly half of them.
            assert!(known < least.map(|least| 2.0 * least + 1e6), "{kind}: {length}");
        }
    }
    // Every output of every call was checked, in two ordinary runs of fresh processes.
    let records = finished.records();
    assert_eq!(records.with_reason("run-finished").count(), 2);
    assert_eq!(records.results().count(), 2 * 5 * 4);
    for result in records.results() {
        assert_eq!(result["verdict"], "pass", "{}", result["message"]);
        assert_eq!(result["grade"], "advisory", "the CPU device has no bound");
        assert_eq!(result["checks"].as_array().map(Vec::len), Some(3));
        assert!(
            result["workers"].as_array().is_some_and(|workers| workers.len() > 1),
            "{result}"
        );
    }
    assert_eq!(machine.left(), Vec::<String>::new(), "nothing is written");
}

#[test]
fn the_tables_go_to_standard_output_and_the_records_to_a_file() {
    let machine = BareMachine::new();
    let run = calibrate(&machine).args(["--device", "cpu", "--mode", "hot", "--export-json", "hot.jsonl"]);
    let finished = run.finish().expect_code(0);
    for words in [
        "Kernels of known length on ",
        "hot: calls back to back, divided by their number",
        "differences below ",
        "No time contradicts what is known. Of 5 times without a bound, none is shorter than its kernel.",
    ] {
        assert!(
            finished.stdout.contains(words),
            "`{words}` is not in:\n{}",
            finished.stdout
        );
    }
    assert!(
        finished.stderr.contains("Measuring run 2 of 2: hot, 1.000 ms"),
        "{}",
        finished.stderr
    );
    let lines = std::fs::read_to_string(machine.work.join("hot.jsonl")).expect("a file");
    assert!(
        lines
            .lines()
            .last()
            .is_some_and(|line| line.contains("\"calibration-complete\"")),
        "{lines}"
    );
}

#[test]
fn two_outputs_cannot_share_standard_output() {
    let machine = BareMachine::new();
    let run = calibrate(&machine).args(["--message-format", "json", "--export-json", "-"]);
    let finished = run.finish().expect_code(2);
    assert!(finished.stderr.contains("--export-json -"), "{}", finished.stderr);
}

#[test]
fn a_gpu_is_calibrated_with_the_kernels_built_into_the_tool() {
    let gpu = FakeGpu::new();
    let run = gpu.run_of_verb("calibrate", &Fixture::of("tidy"));
    let run = run.args([
        "--device",
        "cuda",
        "--mode",
        "cold,graph",
        "--max-time",
        "20ms",
        "--message-format",
        "json",
    ]);
    let finished = run.finish().expect_code(0);
    for (kind, lengths) in lengths(&finished) {
        for length in lengths {
            assert_eq!(length["standing"], "within", "{kind}: {length}");
        }
    }
    for result in finished.records().results() {
        assert_eq!(
            (&result["verdict"], &result["device"]["kind"]),
            (&"pass".into(), &"cuda".into())
        );
    }
}

#[test]
fn times_that_are_shorter_than_their_kernels_fail_the_calibration() {
    let gpu = FakeGpu::new();
    let run = gpu
        .run_of_verb("calibrate", &Fixture::of("tidy"))
        .env("FAKE_CUDA_CLAIMED", "0.01");
    let run = run.args([
        "--device",
        "cuda",
        "--mode",
        "cold",
        "--max-time",
        "20ms",
        "--message-format",
        "json",
    ]);
    let finished = run.finish().expect_code(100);
    let lengths = lengths(&finished);
    let longest = lengths[0].1.last().expect("a length");
    assert_eq!(longest["standing"], "too-short", "{longest}");
}
