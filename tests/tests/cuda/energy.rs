//! `--metric energy`, with a management library whose energy counter shows 100 W at all times.

use gpubench_tests::FakeGpu;
use serde_json::{Value, json};

use super::{CASE, only_case};

/// A call that takes 20 ms longer than it would.
const LONG: &str = "one_thread_a_row:20";

/// Returns the result of the case.
fn measured(gpu: &FakeGpu, delays: &str) -> Value {
    let run = only_case(gpu)
        .json()
        .args(["--metric", "energy"])
        .env("FAKE_CUDA_DELAYS", delays);
    run.finish().expect_code(0).records().result(CASE).clone()
}

#[test]
fn the_energy_of_a_call_is_that_of_a_second_of_calls_divided_by_their_number() {
    let result = measured(&FakeGpu::with_clocks(), LONG);
    let [energy, resolution] = ["energy_per_call_j", "energy_resolution_j"].map(|name| {
        let joules = result[name].as_f64();
        joules.unwrap_or_else(|| panic!("no {name} in {result}"))
    });
    // A call of 20 ms at 100 W, or longer on a busy machine. All calls together take 100 J. The
    // counter also covers the time until it moves.
    let of_calls = energy - resolution;
    assert!(
        (1.9..50.0).contains(&of_calls) && resolution < energy / 2.0,
        "{energy} J, {resolution} J"
    );
    let counts = &result["window_counts"];
    assert_eq!(counts["energy"], 1);
    assert_eq!(counts["timed"], result["samples"].as_array().expect("a list").len());
    assert_eq!(result["notices"], json!([]));
}

#[test]
fn the_energy_of_short_calls_is_measured_in_graphs() {
    let gpu = FakeGpu::with_clocks();
    let result = measured(&gpu, "");
    let energy = result["energy_per_call_j"]
        .as_f64()
        .unwrap_or_else(|| panic!("{result}"));
    // 100 J for all calls, which take microseconds. Other processes share the machine.
    assert!(energy > 0.0 && energy < 1.0, "{energy} J");
    assert_eq!(
        (&result["verdict"], &result["window_counts"]["energy"]),
        (&json!("pass"), &json!(1))
    );
}

#[test]
fn without_a_counter_there_is_a_notice() {
    let result = measured(&FakeGpu::new(), LONG);
    let notice = result["notices"][0].as_str().unwrap_or_default();
    assert!(notice.contains("the device has no energy counter"), "{result}");
}
