//! Contests on a GPU.

use gpubench_tests::{FakeGpu, Fixture};
use serde_json::{Value, json};

use super::assert_nothing_is_left;

#[test]
fn kernels_and_their_variants_alternate_on_a_gpu_in_every_mode() {
    for mode in ["cold", "graph"] {
        let gpu = FakeGpu::new();
        let run = gpu.run(&Fixture::new("tidy")).json().env("GPUBENCH_WORKERS", "3");
        let run = run.args([
            "--contest",
            "--mode",
            mode,
            "--flush-bytes",
            "256KiB",
            "--max-time",
            "1min",
        ]);
        let run = run.args(["--min-samples", "9", "--max-samples", "9", "^sums.*cols=100"]);
        let records = run.finish().expect_code(0).records();
        let results: Vec<&Value> = records.results().collect();
        assert_eq!(results.len(), 3);
        for result in &results {
            assert_eq!((&result["verdict"], &result["message"]), (&json!("pass"), &Value::Null));
            assert_eq!(
                (&result["stats"]["n"], &result["contest"]["number"]),
                (&json!(9), &json!(0))
            );
        }
        let ranking = records.the("contest-complete");
        let contestants = ranking["contestants"].as_array().expect("a list");
        assert!(
            contestants.iter().all(|contestant| contestant["ranks"].is_array()),
            "{ranking:#}"
        );
        assert_nothing_is_left(&gpu);
    }
}
