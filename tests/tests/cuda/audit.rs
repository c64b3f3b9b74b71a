//! `--audit`, with probes on the double of the driver.

use std::io::Write as _;

use gpubench_bpf::Abilities;
use gpubench_tests::{FakeGpu, Fixture, Run};
use serde_json::{Value, json};

use super::{CASE, only_case, tidy};

/// Returns the result of the case of an audited run, or `None` where the kernel lends no probes.
fn audited(run: Run, case: &str) -> Option<Value> {
    let records = run.json().args(["--audit"]).finish().expect_code(0).records();
    let result = records.result(case).clone();
    let is_refused = |notice: &Value| {
        notice
            .as_str()
            .is_some_and(|notice| notice.contains("(hint: run it as root"))
    };
    if result["notices"]
        .as_array()
        .is_some_and(|notices| notices.iter().any(is_refused))
    {
        tell_skipped(&result["notices"].to_string());
        return None;
    }
    Some(result)
}

/// Says so even where a test that passes prints nothing.
fn tell_skipped(what: &str) {
    let _ = writeln!(std::io::stderr(), "skipped: {what}");
}

/// Whether submissions can be counted here.
fn watchpoints() -> bool {
    let are_there = Abilities::here().watchpoint;
    if !are_there {
        tell_skipped("submissions, because there are no watchpoints here");
    }
    are_there
}

#[test]
fn the_launches_of_a_plan_are_seen_in_calls_of_their_own() {
    let gpu = FakeGpu::new();
    let without = only_case(&gpu).json().finish().expect_code(0).records();
    let without = without.result(CASE);
    assert_eq!(without["audit"], Value::Null);
    let Some(result) = audited(only_case(&gpu), CASE) else {
        return;
    };
    let audit = &result["audit"];
    assert!(audit["calls"].as_u64() >= Some(1), "{audit}");
    let numbers = [
        "launches",
        "graph_launches",
        "copies",
        "allocations",
        "unfreed_bytes",
        "failed_calls",
    ];
    assert_eq!(
        numbers.map(|number| audit[number].as_f64()),
        [1.0, 0.0, 0.0, 0.0, 0.0, 0.0].map(Some),
        "{audit}"
    );
    assert_eq!(
        audit["submissions"].as_f64(),
        Some(1.0).filter(|_| watchpoints()),
        "{audit}"
    );
    assert_eq!(audit["kernels"], json!([{"name": "one_thread_a_row", "launches": 1.0}]));
    assert_eq!((&audit["lost_events"], &result["notices"]), (&json!(0), &json!([])));
    // The audited calls are no windows of the measurement.
    assert_eq!(result["window_counts"]["timed"], without["window_counts"]["timed"]);
}

#[test]
fn a_plan_knows_its_kernels_by_their_symbols() {
    let gpu = FakeGpu::new();
    let case = "sums::one_block_a_row::rows=33,cols=100,threads=32";
    let run = tidy(&gpu).args(["--exact", case]);
    let Some(result) = audited(run, case) else {
        return;
    };
    assert_eq!(result["audit"]["launches"], 1.0, "{}", result["audit"]);
    assert_ne!(result["audit"]["kernels"][0]["name"], "sums::one_block_a_row<32>");
    assert_eq!(result["verdict"], "pass", "{result:#}");
}

#[test]
fn a_call_that_leaks_is_told() {
    let gpu = FakeGpu::for_host_code();
    let run = |case| gpu.run(&Fixture::new("gpu")).briefly().args(["--exact", case]);
    let case = "copies::leaks::n=4099";
    let Some(leaks) = audited(run(case), case) else {
        return;
    };
    assert_eq!(leaks["audit"]["unfreed_bytes"], 65536.0, "{}", leaks["audit"]);
    let notices = leaks["notices"].to_string();
    assert!(notices.contains("each call leaves 64 KiB allocated"), "{notices}");

    let case_of_few_calls = "copies::leaks_slowly::n=4099";
    let slow = audited(run(case_of_few_calls), case_of_few_calls).expect("the other case was audited");
    assert!(slow["audit"]["calls"].as_u64() >= Some(3), "{}", slow["audit"]);
    let notices = slow["notices"].to_string();
    assert!(notices.contains("each call leaves 64 KiB allocated"), "{notices}");

    let denied = run(case).json().args(["--audit", "--deny", "notices"]);
    let denied = denied.finish().expect_code(100).records();
    let denied = denied.result(case);
    assert_eq!(
        (&denied["verdict"], &denied["cause"]),
        (&json!("error"), &json!("denied-notice")),
        "{denied:#}"
    );

    let case = "copies::waits_for_the_device::n=4099,stream=0";
    let frees = audited(run(case), case).expect("the other case was audited");
    let audit = &frees["audit"];
    let numbers = ["allocations", "frees", "unfreed_bytes", "copies", "copied_bytes"];
    assert_eq!(
        numbers.map(|number| audit[number].as_f64()),
        [1.0, 1.0, 0.0, 2.0, 32792.0].map(Some),
        "{audit}"
    );
    assert!(!frees["notices"].to_string().contains("each call leaves"), "{frees:#}");
}

#[test]
fn submissions_that_no_seen_call_explains_are_told() {
    let gpu = FakeGpu::for_host_code();
    // The first one writes a word in memory and copies, the second one copies.
    for (case, submissions) in [("copies::writes_a_word_first", 2.0), ("copies::does_not_wait", 1.0)] {
        let case = format!("{case}::n=4099");
        let run = gpu.run(&Fixture::new("gpu")).briefly().args(["--exact", &case]);
        let Some(result) = audited(run, &case).filter(|_| watchpoints()) else {
            return;
        };
        assert_eq!(result["audit"]["submissions"], submissions, "{result:#}");
        let notices = result["notices"].to_string();
        let is_told = notices.contains("belong to no launch, copy, fill or record of an event that was seen");
        assert_eq!(is_told, submissions > 1.0, "{notices}");
    }
}

#[test]
fn the_system_calls_of_timed_host_code_are_counted() {
    let gpu = FakeGpu::for_host_code();
    let case = "copies::asks_the_system::n=4099";
    let run = gpu.run(&Fixture::new("gpu")).briefly().args(["--exact", case]);
    let Some(result) = audited(run, case) else {
        return;
    };
    let calls = result["audit"]["system_calls"].as_array().expect("a list");
    let asked = calls.iter().find(|call| call["name"] == "getpid");
    assert_eq!(asked.map(|call| &call["calls"]), Some(&json!(3.0)), "{calls:?}");
}

#[test]
fn calls_without_a_driver_are_not_audited_and_the_result_says_so() {
    let case = "sums::one_thread_a_row::rows=33,cols=100";
    let run = Run::on(&Fixture::new("tidy"))
        .briefly()
        .args(["--exact", case, "--device", "cpu"]);
    let Some(result) = audited(run, case) else {
        return;
    };
    assert_eq!((&result["verdict"], &result["audit"]), (&json!("pass"), &Value::Null));
    let notices = result["notices"].to_string();
    assert!(notices.contains("`--audit` needs a GPU"), "{notices}");
}
