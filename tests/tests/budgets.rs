//! Time budgets of a case, by the windows, samples and rests in its record.
#![forbid(unsafe_code)]

use gpubench_tests::{FakeGpu, Fixture, Run};
use serde_json::{Value, json};

const CASE: &str = "sums::one_thread_a_row::rows=33,cols=100";

/// Number of workers of each case here.
const WORKERS: u64 = 2;

/// Returns the result of a case of 4 to 40 samples that never converge, on the CPU device and on a
/// GPU.
fn results(options: &[&str]) -> [Value; 2] {
    let gpu = FakeGpu::new();
    let tidy = Fixture::new("tidy");
    [Run::on(&tidy).args(["--device", "cpu"]), gpu.run(&tidy)].map(|run| {
        let run = run
            .json()
            .patiently()
            .args(["--exact", CASE, "--flush-bytes", "256KiB"]);
        let run = run.args(["--workers", &WORKERS.to_string(), "--min-samples", "4"]);
        let run = run.env("GPUBENCH_MAX_SAMPLES", "40").env("GPUBENCH_MAX_TIME", "10min");
        let run = run.args(["--target-cv", "0.001%"]);
        let records = run.args(options.iter().copied()).finish().expect_code(0).records();
        let result = records.result(CASE).clone();
        assert_eq!(result["verdict"], "pass", "{result}");
        result
    })
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("no number: {value}"))
}

fn samples(result: &Value) -> usize {
    result["samples"].as_array().expect("a list").len()
}

/// Returns the time of the calls of a result's samples.
fn sampled_ns(result: &Value) -> f64 {
    let samples = result["samples"].as_array().expect("a list").iter();
    let sum: f64 = samples.map(|sample| sample.as_f64().expect("a time")).sum();
    sum * result["calls_per_sample"].as_f64().expect("a number")
}

#[test]
fn without_budgets_nothing_rests_and_the_record_has_the_time_of_the_warm_up() {
    for result in results(&[]) {
        let budget = &result["budget"];
        assert_eq!(
            (&budget["warmup_time_ns"], &budget["sample_time_ns"]),
            (&json!(null), &json!(null))
        );
        assert!(number(&budget["warmed_up_ns"]) > 0, "{budget}");
        assert_eq!((number(&budget["rests"]), number(&budget["rested_ns"])), (0, 0));
    }
}

#[test]
fn a_short_sample_time_ends_sampling_once_a_case_has_the_least_number_of_samples() {
    for result in results(&["--sample-time", "1us"]) {
        assert_eq!(result["stop"]["reason"], "sample-time");
        assert_eq!(samples(&result), 4);
        assert_eq!(result["budget"]["sample_time_ns"], 1_000);
        assert!(sampled_ns(&result) >= 1_000.0);
    }
}

#[test]
fn a_long_sample_time_leaves_the_end_to_the_other_limits() {
    for result in results(&["--sample-time", "1h", "--max-samples", "5"]) {
        assert_eq!(
            (samples(&result), &result["stop"]["reason"]),
            (5, &json!("max-samples"))
        );
    }
}

#[test]
fn each_process_is_warmed_up_for_as_long_as_the_warm_up_time_says() {
    for result in results(&["--warmup-time", "5ms", "--max-samples", "4"]) {
        let budget = &result["budget"];
        assert_eq!(budget["warmup_time_ns"], 5_000_000);
        assert!(number(&budget["warmed_up_ns"]) >= WORKERS * 5_000_000, "{budget}");
        assert_eq!(samples(&result), 4);
    }
}

#[test]
fn a_warm_up_ends_when_its_share_of_the_time_limit_is_over() {
    for result in results(&["--warmup-time", "5s", "--max-time", "40ms", "--max-samples", "4"]) {
        assert!(number(&result["window_counts"]["warm_up"]) >= WORKERS, "{result}");
        assert!(number(&result["budget"]["warmed_up_ns"]) < 5_000_000_000, "{result}");
    }
}

#[test]
fn the_device_rests_between_all_windows_at_least_five_times_as_long_as_the_calls() {
    for result in results(&["--cooldown", "--max-samples", "6"]) {
        let budget = &result["budget"];
        let windows = number(&result["windows"]) + number(&result["window_counts"]["control"]);
        assert_eq!(number(&budget["rests"]), windows - 1, "{result}");
        // The last window may have been a sample; nothing comes after it. Each rest is limited to a
        // second, also after a call that a busy machine interrupts.
        let of_call = |ns: f64| ns.min(200e6);
        let samples = result["samples"].as_array().expect("a list").iter();
        let calls: f64 = samples.map(|sample| of_call(sample.as_f64().expect("a time"))).sum();
        let rested_for = calls - of_call(result["stats"]["max"].as_f64().expect("a time"));
        let rested = number(&budget["rested_ns"]) as f64;
        assert!(rested >= 4.99 * rested_for, "{rested} ns after {rested_for} ns");
    }
}

#[test]
fn calls_that_are_only_checked_have_no_budget() {
    let run = Run::on(&Fixture::new("tidy")).json().args(["--exact", CASE, "--test"]);
    let records = run
        .args(["--cooldown", "--sample-time", "1us"])
        .finish()
        .expect_code(0)
        .records();
    assert_eq!(records.result(CASE)["budget"], json!(null));
}

/// Runs the case whose attribute has budgets.
fn budgeted() -> Run {
    let run = Run::on(&Fixture::new("paced")).args(["rest", "--features", "budgeted", "--device", "cpu"]);
    // A single sample has no spread that could end the sampling.
    run.args(["--workers", "1", "--min-samples", "1", "--max-samples", "5"])
        .json()
}

#[test]
fn an_attribute_sets_the_budgets_and_the_command_line_replaces_them() {
    let own = budgeted().finish().expect_code(0).records();
    let own = own.result("steps::rest");
    let budget = &own["budget"];
    assert_eq!(
        (&budget["warmup_time_ns"], &budget["sample_time_ns"]),
        (&json!(2_000), &json!(1_000))
    );
    assert!(number(&budget["rests"]) > 0, "{budget}");
    assert_eq!((samples(own), &own["stop"]["reason"]), (1, &json!("sample-time")));

    let replaced = budgeted().args(["--sample-time", "none", "--cooldown=false"]);
    let replaced = replaced.finish().expect_code(0).records();
    let replaced = replaced.result("steps::rest");
    assert_eq!(replaced["budget"]["sample_time_ns"], json!(null));
    assert_eq!(replaced["budget"]["rests"], 0);
    assert_ne!(replaced["stop"]["reason"], "sample-time");
}
