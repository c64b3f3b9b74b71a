//! Cases that have nothing to do, because some or all of their tensors are empty.
#![forbid(unsafe_code)]

use std::sync::OnceLock;

use gpubench_tests::{FakeGpu, Fixture, Records, Run, RunFolder, ends};
use serde_json::Value;

const HONEST: [&str; 3] = [
    "returns_early::n=0",
    "launches_a_block::n=0",
    "with_a_launched_reference",
];

fn nothing() -> Run {
    Run::on(&Fixture::new("nothing")).briefly().args(["--device", "cpu"])
}

fn records() -> &'static Records {
    static RECORDS: OnceLock<Records> = OnceLock::new();
    RECORDS.get_or_init(|| nothing().json().finish().expect_code(100).records())
}

#[test]
fn a_case_with_nothing_to_write_passes_without_a_time_and_says_so() {
    for name in HONEST {
        let result = records().result(name);
        assert_eq!(
            (&result["verdict"], &result["stats"]),
            (&"pass".into(), &Value::Null),
            "{name}"
        );
        assert_eq!(
            (&result["samples"], &result["grade"]),
            (&Value::Array(vec![]), &Value::Null)
        );
        let said = "it has no time, because all of its outputs are empty: it was checked that its calls write nothing";
        assert_eq!(result["notices"], Value::from(vec![said]), "{name}");
    }
}

#[test]
fn an_output_that_is_not_empty_is_timed_next_to_one_that_is() {
    for name in ["sums::n=0", "sums::n=100", "returns_early::n=1000"] {
        let result = records().result(name);
        assert_eq!(result["verdict"], "pass", "{name}: {}", result["message"]);
        assert_eq!(result["stats"]["n"], 4, "{name}");
    }
}

ends! {
    a_write_to_the_first_element_of_an_empty_output_is_out_of_bounds:
        "writes_the_first::n=0" is "crashed", "out-of-bounds", "invalid write", "0 bytes past the end of `y` (0 bytes)";
    a_write_in_front_of_an_empty_output_is_out_of_bounds:
        "writes_the_last::n=0" is "wrong-output", "out-of-bounds", "4 bytes before the start of `y`";
    a_grid_for_no_elements_says_how_to_launch_nothing:
        "launches_no_blocks::n=0" is "error", "recording-failed", "a grid of 0x1x1 has no blocks",
        "(hint: launch nothing if there is nothing to do: `if n == 0 { return Ok(()); }`)";
}

#[test]
fn in_a_test_with_other_modes_and_metrics_or_without_notices_the_verdict_is_the_same() {
    for options in [
        &["--test"][..],
        &["--mode", "cold,hot,graph"],
        &["--metric", "memory"],
        &["--deny", "notices"],
    ] {
        let run = nothing().json().args(options.iter().copied());
        let records = run.args(["returns_early::n=0"]).finish().expect_code(0).records();
        assert!(records.results().count() > 0);
        for result in records.results() {
            let ended = (&result["verdict"], &result["stats"], &result["counts"]);
            assert_eq!(ended, (&"pass".into(), &Value::Null, &Value::Null), "{options:?}");
        }
    }
}

#[test]
fn a_ranking_leaves_out_what_has_no_time() {
    let finished = nothing()
        .args(["--contest", "returns_early", "launches_a_block"])
        .finish()
        .expect_code(0);
    assert!(!finished.stdout.contains("double n=0"), "{}", finished.stdout);
    assert!(
        finished.stdout.contains("4 passed, 0 failed, 0 skipped"),
        "{}",
        finished.stdout
    );
}

#[test]
fn a_comparison_leaves_out_what_has_no_time() {
    let folder = RunFolder::new();
    let stored = ["before.json", "after.json"].map(|name| {
        let path = folder.path(name).into_string();
        let run = nothing().args(["--save-baseline", &path, "returns_early"]);
        let _ = run.finish().expect_code(0);
        path
    });
    let run = Run::on_verb("compare", &Fixture::new("nothing")).args(stored.iter().map(String::as_str));
    let compared = run.finish().stdout;
    assert!(compared.contains("returns_early::n=1000"), "{compared}");
    assert!(!compared.contains("returns_early::n=0"), "{compared}");
}

#[test]
fn a_gpu_is_given_no_empty_work() {
    let gpu = FakeGpu::new();
    let run = gpu.run(&Fixture::new("nothing")).briefly().json();
    let records = run.args(["--skip", "writes"]).finish().expect_code(100).records();
    for name in HONEST.iter().chain(&["sums::n=0", "sums::n=100"]) {
        let result = records.result(name);
        assert_eq!(result["verdict"], "pass", "{name}: {}", result["message"]);
    }
    records.assert_ends("launches_no_blocks::n=0", "error", "recording-failed", &["no blocks"]);
}
