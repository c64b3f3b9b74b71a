//! `--energy`, with a management library whose energy counter shows 100 W at all times.

use gpubench_tests::FakeGpu;
use serde_json::{Value, json};

use super::{CASE, only_case};

/// Returns the result of the case. A call takes `lasts_ms` longer than it would.
fn measured(gpu: &FakeGpu, lasts_ms: u32) -> Value {
    let delays = format!("one_thread_a_row:{lasts_ms}");
    let run = only_case(gpu)
        .json()
        .args(["--energy"])
        .env("FAKE_CUDA_DELAYS", &delays);
    run.finish().expect_code(0).records().result(CASE).clone()
}

#[test]
fn the_energy_of_a_call_is_that_of_a_second_of_calls_divided_by_their_number() {
    let result = measured(&FakeGpu::with_clocks(), 20);
    let [energy, resolution] = ["energy_per_call_j", "energy_resolution_j"].map(|name| {
        let joules = result[name].as_f64();
        joules.unwrap_or_else(|| panic!("no {name} in {result}"))
    });
    // A call of 20 ms at 100 W. The counter also covers the time until it moves.
    let of_calls = energy - resolution;
    assert!(
        (1.9..3.0).contains(&of_calls) && resolution < energy / 2.0,
        "{energy} J, {resolution} J"
    );
    let counts = &result["window_counts"];
    assert_eq!(counts["energy"], 1);
    assert_eq!(counts["timed"], result["samples"].as_array().expect("a list").len());
    assert_eq!(result["notices"], json!([]));
}

#[test]
fn calls_that_are_too_short_have_no_energy_and_a_notice() {
    let result = measured(&FakeGpu::with_clocks(), 0);
    assert_eq!(result["energy_per_call_j"], Value::Null);
    assert_eq!(result["window_counts"]["energy"], 0);
    let notice = result["notices"][0].as_str().unwrap_or_default();
    assert!(notice.contains("the energy counter needs 200.0 ms"), "{result}");
}

#[test]
fn without_a_counter_there_is_a_notice() {
    let result = measured(&FakeGpu::new(), 20);
    let notice = result["notices"][0].as_str().unwrap_or_default();
    assert!(notice.contains("the device has no energy counter"), "{result}");
}
