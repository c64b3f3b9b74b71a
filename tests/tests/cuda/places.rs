//! Buffers that are placed anew: for each worker, and while it is sampled.

use gpubench_tests::{FakeGpu, Fixture, Run, RunFolder};
use serde_json::{Value, json};

use super::{CASE, assert_ends, assert_nothing_is_left};

/// Returns a run of two workers with eight samples each, whose calls take a millisecond.
fn long_calls(gpu: &FakeGpu) -> Run {
    gpu.run(&Fixture::new("tidy"))
        .json()
        .patiently()
        .args(["--exact", CASE, "--flush-bytes", "256KiB", "--workers", "2"])
        .args(["--min-samples", "16", "--max-samples", "16", "--max-time", "1min"])
        .env("FAKE_CUDA_DELAYS", "one_thread_a_row:1")
}

/// Returns the places of each worker's buffers, each with the number of samples there.
fn places(result: &Value) -> Vec<Vec<(u64, u64)>> {
    let number = |share: &Value, field| share[field].as_u64().expect("a number");
    let share = |share: &Value| (number(share, "placement"), number(share, "samples"));
    let of_worker = |worker: &Value| {
        let shares = worker["placements"].as_array().expect("a list");
        shares.iter().map(share).collect()
    };
    result["workers"]
        .as_array()
        .expect("a list")
        .iter()
        .map(of_worker)
        .collect()
}

#[test]
fn each_worker_has_its_buffers_in_places_of_its_own_and_nothing_is_left() {
    for mode in ["cold", "hot"] {
        let gpu = FakeGpu::new();
        let folder = RunFolder::new();
        let trace = folder.path("trace.json").into_string();
        let run = long_calls(&gpu).args(["--mode", mode, "--trace", &trace]);
        let records = run.finish().expect_code(0).records();
        let result = records.results().next().expect("a result");
        assert_eq!(result["verdict"], "pass", "{mode}: {}", result["message"]);
        assert_eq!(places(result), [[(0, 4), (1, 4)], [(2, 4), (3, 4)]], "{mode}");
        assert_nothing_is_left(&gpu);
        let trace = std::fs::read_to_string(trace).expect("it was written");
        for event in ["places the buffers anew", "maps new memory"] {
            assert_eq!(trace.matches(event).count(), 3, "{mode}: {event}");
        }
    }
}

/// The first place takes three allocations, and the failed next one is tried twice.
#[test]
fn a_gpu_without_memory_for_two_places_keeps_the_first_with_a_notice() {
    let gpu = FakeGpu::new();
    let created = |number| format!("referee:cuMemCreate:{number}:2");
    let fail = [created(FIRST + 1), created(FIRST + 2)].join(",");
    let records = long_calls(&gpu)
        .env("FAKE_CUDA_FAIL", &fail)
        .finish()
        .expect_code(0)
        .records();
    assert_ends(&records, CASE, "pass", None);
    let result = records.result(CASE);
    assert_eq!(places(result), [[(0, 8)], [(0, 8)]]);
    let notices = result["notices"].to_string();
    assert!(notices.contains("lacks memory to place the buffers anew"), "{notices}");
    assert_nothing_is_left(&gpu);
}

/// Number of allocations of the first place.
const FIRST: usize = 2;

#[test]
fn a_driver_that_cannot_place_buffers_anew_fails_the_case_and_not_the_next() {
    let remapped = FIRST + 1;
    for (call, cause) in [
        (format!("referee:cuMemMap:{remapped}:999"), "referee-failed"),
        (format!("worker:cuMemMap:{remapped}:999"), "worker-failed"),
        (
            format!("worker:cuMemImportFromShareableHandle:{remapped}:1"),
            "worker-failed",
        ),
    ] {
        let gpu = FakeGpu::new();
        let records = long_calls(&gpu)
            .env("FAKE_CUDA_FAIL", &call)
            .finish()
            .expect_code(100)
            .records();
        let result = records.result(CASE);
        assert_eq!(
            (&result["verdict"], &result["cause"]),
            (&json!("error"), &json!(cause)),
            "{call}: {result}"
        );
    }
}
