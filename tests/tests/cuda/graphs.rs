//! The modes `hot` and `graph` on a GPU.

use gpubench_tests::FakeGpu;
use serde_json::{Value, json};

use super::{CASE, assert_nothing_is_left, assert_says, only_case};

#[test]
fn graphs_and_hot_calls_pass_and_leave_nothing_allocated() {
    let gpu = FakeGpu::new();
    let run = only_case(&gpu).json().args(["--mode", "cold,hot,graph,hot-graph"]);
    let records = run.finish().expect_code(0).records();
    let results: Vec<&Value> = records.results().collect();
    let modes = results.iter().map(|result| &result["mode"]);
    assert_eq!(
        modes.collect::<Vec<_>>(),
        [&json!("cold"), &json!("hot"), &json!("graph"), &json!("hot-graph")]
    );
    for result in &results {
        assert_eq!((&result["verdict"], &result["message"]), (&json!("pass"), &Value::Null));
    }
    // Less is flushed than the cache of the GPU holds, so that the test is fast.
    let caches = results.iter().map(|result| &result["cache"]);
    assert_eq!(
        caches.collect::<Vec<_>>(),
        [
            &json!("partly-warm"),
            &json!("hot"),
            &json!("partly-warm"),
            &json!("hot")
        ]
    );
    assert_eq!(results[2]["calls_per_sample"], 10);
    for result in &results[1..] {
        assert!(result["calls_per_sample"].as_u64() >= Some(8), "{result}");
    }
    assert_nothing_is_left(&gpu);
    for ledger in gpu.ledgers_of("worker") {
        assert!(
            ledger["Graph"] <= 4,
            "a worker has a graph of all calls and of one, for the calls and for their twins: {ledger:?}"
        );
    }
}

/// All of them would be in the referee's time.
#[test]
fn a_hot_window_makes_only_the_calls_that_are_timed() {
    let folder = tempfile::tempdir().expect("a folder");
    let launches = folder.path().join("launches");
    let gpu = FakeGpu::new();
    let run = only_case(&gpu).json().args(["--mode", "hot"]);
    let run = run.env("FAKE_CUDA_LAUNCHES", launches.to_str().expect("text"));
    let records = run.finish().expect_code(0).records();
    let result = records.result(CASE);
    let [calls, windows, single] = [
        &result["calls_per_sample"],
        &result["windows"],
        &result["window_counts"]["single"],
    ]
    .map(|number| number.as_u64().expect("a number"));
    let launches = std::fs::read_to_string(launches).expect("workers have launched kernels");
    let made = launches.lines().filter(|kernel| *kernel == "one_thread_a_row").count();
    assert_eq!(
        made as u64,
        (windows - single) * calls + single,
        "{:#}",
        result["window_counts"]
    );
}

#[test]
fn a_call_that_cannot_be_captured_ends_its_case_with_the_reason() {
    for call in [
        "cuStreamBeginCapture_v2",
        "cuStreamEndCapture",
        "cuGraphInstantiateWithFlags",
    ] {
        let gpu = FakeGpu::new();
        let fail = format!("worker:{call}:1:801");
        let run = only_case(&gpu)
            .json()
            .args(["--mode", "graph"])
            .env("FAKE_CUDA_FAIL", &fail);
        let records = run.finish().expect_code(100).records();
        let result = records.result(CASE);
        assert_eq!(result["verdict"], "error", "{}", result["message"]);
        assert_says(
            &records,
            CASE,
            &[
                "the calls cannot be captured in a graph",
                "CUDA_ERROR_NOT_SUPPORTED",
                call,
            ],
        );
    }
}
