//! Hardware metrics, which are read in windows of their own.

use gpubench_tests::FakeGpu;
use serde_json::{Value, json};

use super::{CASE, only_case};

/// Only a worker that counts waits for the whole device.
#[test]
fn a_call_that_fails_while_hardware_metrics_are_read_fails_its_case() {
    let gpu = FakeGpu::with_cupti();
    let read = || only_case(&gpu).json().args(["--metric", "ncu:dram__bytes.sum"]);
    let records = read().finish().expect_code(0).records();
    let hardware = &records.result(CASE)["counts"]["hardware"];
    assert!(hardware["dram__bytes.sum"].is_number(), "{hardware}");

    // With other workers, the buffers would be placed anew, for which a worker waits too.
    let run = read()
        .args(["--workers", "1"])
        .env("FAKE_CUDA_FAIL", "worker:cuCtxSynchronize:1:700");
    let records = run.finish().expect_code(100).records();
    let result = records.result(CASE);
    assert_eq!(result["verdict"], json!("crashed"), "{result:#}");
    let message = result["message"].as_str().expect("a message");
    assert!(message.starts_with("while hardware metrics were read: "), "{message}");
    assert_eq!(result["counts"], Value::Null);
    assert!(result["stats"].is_object(), "the times remain: {result:#}");
}
