//! What the record says about the kernels of a case.

use gpubench_tests::{FakeGpu, Fixture, Run};
use serde_json::{Value, json};

use super::tidy;

/// A call with two launches, each of eight blocks.
const CASE: &str = "steps::memset_copy_and_launches::n=1000";

fn kernel(name: &str, resources: Value) -> Value {
    json!({
        "kernel": name,
        "launches": 1,
        "grid": [8, 1, 1],
        "block": [128, 1, 1],
        "cluster": null,
        "dynamic_shared_bytes": 0,
        "resources": resources,
    })
}

/// A multiprocessor of 128 threads has room for one block of the kernels.
#[test]
fn a_gpu_tells_what_each_kernel_of_a_plan_needs() {
    let gpu = FakeGpu::new();
    let run = tidy(&gpu).json().args(["--exact", CASE]);
    let records = run
        .env("FAKE_CUDA_ATTRIBUTES", "39=128")
        .finish()
        .expect_code(0)
        .records();
    let resources = json!({
        "registers": 40,
        "local_bytes": 0,
        "spill_store_bytes": null,
        "spill_load_bytes": null,
        "static_shared_bytes": 1024,
        "blocks_per_multiprocessor": 1,
        "occupancy": 1.0,
        "limited_by": ["threads"],
        "waves": 8.0 / 132.0,
    });
    let expected = json!([kernel("square_and_sum", resources.clone()), kernel("add", resources)]);
    assert_eq!(records.result(CASE)["kernels"], expected);
}

#[test]
fn kernels_whose_resources_a_gpu_does_not_tell_are_warned_about_and_have_none() {
    let gpu = FakeGpu::new();
    let run = tidy(&gpu).json().args(["--exact", CASE]);
    let refused = "referee:cuOccupancyMaxActiveBlocksPerMultiprocessor:1:1";
    let finished = run.env("FAKE_CUDA_FAIL", refused).finish().expect_code(0);
    let warning = "warning: cannot tell the resources of kernel `square_and_sum`: ";
    assert!(finished.stderr.contains(warning), "{}", finished.stderr);
    let records = finished.records();
    let kernels = &records.result(CASE)["kernels"];
    assert_eq!(kernels[0], kernel("square_and_sum", Value::Null));
    assert_eq!(kernels[1]["resources"]["registers"], 40);
}

#[test]
fn the_cpu_device_lists_kernels_without_resources() {
    let run = Run::on(&Fixture::new("tidy")).briefly().json();
    let finished = run.args(["--device", "cpu", "--exact", CASE]).finish().expect_code(0);
    let expected = json!([kernel("square_and_sum", Value::Null), kernel("add", Value::Null)]);
    assert_eq!(finished.records().result(CASE)["kernels"], expected);
}

#[test]
fn the_steps_of_a_plan_are_timed_one_by_one_in_windows_of_their_own() {
    let gpu = FakeGpu::new();
    let finished = tidy(&gpu).json().args(["--exact", CASE]).finish().expect_code(0);
    let records = finished.records();
    let result = records.result(CASE);
    let steps: Vec<&str> = result["steps"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|step| step["step"].as_str())
        .collect();
    assert_eq!(steps, ["memset", "copy", "square_and_sum", "add"]);
    let counts = &result["window_counts"];
    assert_eq!(counts["parts"], 4, "two of each of two workers: {counts}");
    for step in result["steps"].as_array().expect("a list") {
        assert_eq!(step["times"]["n"], 4, "{step}");
    }
}

#[test]
fn a_plan_of_one_step_has_no_times_of_steps() {
    let one = "sums::one_thread_a_row::rows=33,cols=100";
    let run = Run::on(&Fixture::new("tidy")).briefly().json();
    let records = run
        .args(["--device", "cpu", "--exact", one])
        .finish()
        .expect_code(0)
        .records();
    let result = records.result(one);
    assert_eq!(
        (&result["steps"], &result["window_counts"]["parts"]),
        (&json!([]), &json!(0))
    );
}
