//! Throttled samples, with a management library that reports a power cap.

use gpubench_tests::{FakeGpu, Fixture};
use serde_json::{Value, json};

use super::CASE;

/// The number of the reading after the first sample. Ten come before the run and one before the
/// case.
const FIRST: u32 = 12;

/// Returns the result of a case of 12 samples by one worker. The GPU throttles in these readings,
/// from and below a number. Reading 0 follows the first sample.
fn measured(throttled: &[[u32; 2]]) -> Value {
    let gpu = FakeGpu::with_clocks();
    let ranges: Vec<String> = throttled
        .iter()
        .map(|[from, to]| format!("{}:{}", FIRST + from, FIRST + to))
        .collect();
    let run = gpu.run(&Fixture::new("tidy")).json().args(["--exact", CASE]);
    let run = run.args(["--workers", "1", "--min-samples", "12", "--max-samples", "12"]);
    let run = run.args(["--max-time", "1min", "--flush-bytes", "256KiB"]);
    let finished = run.env("FAKE_NVML_THROTTLED", &ranges.join(",")).finish();
    finished.expect_code(0).records().result(CASE).clone()
}

fn flagged(result: &Value) -> Vec<u64> {
    let flags = result["sample_flags"].as_array().expect("a list").iter();
    flags.map(|flag| flag["sample"].as_u64().expect("a number")).collect()
}

fn samples(result: &Value) -> usize {
    result["samples"].as_array().expect("a list").len()
}

#[test]
fn throttled_samples_are_taken_again() {
    let result = measured(&[[3, 5], [8, 9]]);
    assert_eq!(result["window_counts"]["retaken"], 3, "{result}");
    assert_eq!((samples(&result), flagged(&result)), (12, vec![]));
    assert_eq!(result["environment"]["gpu"]["sample_clock_hz"], json!(1.98e9));
    assert_eq!(
        result["notices"],
        json!(["the GPU throttled while samples were taken (power-cap): 3 throttled samples taken again"])
    );
    let counts = &result["window_counts"];
    let kinds = ["warm_up", "timed", "early_check", "retaken"];
    let windows: u64 = kinds.iter().map(|kind| counts[kind].as_u64().expect("a number")).sum();
    assert_eq!(result["windows"], windows, "all of them are checked");
    assert_eq!(result["distinct_inputs"], windows);
}

#[test]
fn a_gpu_that_always_throttles_keeps_its_samples_and_says_so() {
    let result = measured(&[[0, 1_000_000]]);
    assert_eq!(samples(&result), 12);
    assert_eq!(flagged(&result), (0..12).collect::<Vec<_>>());
    assert_eq!(result["window_counts"]["retaken"], 3);
    assert_eq!(
        result["notices"],
        json!([
            "the GPU throttled while samples were taken (power-cap): 3 throttled samples taken again; all samples are throttled"
        ])
    );
}

#[test]
fn beyond_the_limit_throttled_samples_are_kept_with_a_flag() {
    let result = measured(&[[2, 1_000_000]]);
    assert_eq!(result["window_counts"]["retaken"], 12);
    assert_eq!((samples(&result), flagged(&result)), (12, (2..12).collect()));
}
