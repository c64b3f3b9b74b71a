//! Workers that lie about time or work between windows, on a GPU whose clock bounds claims.

use gpubench_tests::{FakeGpu, Fixture, Records, Run};
use serde_json::{Value, json};

use super::{CASE, assert_ends, assert_nothing_is_left, assert_says};

/// The number of samples in tests of the referee's clock.
const SAMPLES: usize = 24;

/// The duration of a call in milliseconds. Its worker claims a hundredth of it.
const LASTS_MS: u64 = 50;

/// Returns a run whose workers claim a hundredth of the true time.
fn lying(gpu: &FakeGpu) -> Run {
    lying_in(gpu, "tidy", "one_thread_a_row").args(["--exact", CASE])
}

/// Same as [`lying`], for the cases of a fixture that run `kernel`.
fn lying_in(gpu: &FakeGpu, fixture: &str, kernel: &str) -> Run {
    under_a_steady_clock(gpu, fixture)
        .env("FAKE_CUDA_DELAYS", &format!("{kernel}:{LASTS_MS}"))
        .env("FAKE_CUDA_CLAIMED", "0.01")
}

/// Returns a short run in which the referee's clock bounds claims.
fn under_exclusive_clock(gpu: &FakeGpu, fixture: &str) -> Run {
    let run = gpu.run(&Fixture::new(fixture)).json();
    let run = run.args(["--flush-bytes", "256KiB", "--workers", "1"]);
    let samples = SAMPLES.to_string();
    run.patiently()
        .args(["--min-samples", &samples, "--max-samples", &samples])
        .env("FAKE_CUDA_ATTRIBUTES", "133=0")
}

/// Same as [`under_exclusive_clock`], on a GPU whose times do not depend on how busy the machine
/// is. Calls that the worker's host holds back are timed by a host, so they need a real clock.
fn under_a_steady_clock(gpu: &FakeGpu, fixture: &str) -> Run {
    under_exclusive_clock(gpu, fixture).env("FAKE_CUDA_CLOCK", &gpu.clock())
}

fn is_accused(result: &Value) -> bool {
    result["cause"] == "claim-too-short"
}

#[test]
fn a_call_alone_is_compared_with_the_call_among_others_on_an_exclusive_gpu() {
    let gpu = FakeGpu::new();
    let run = under_a_steady_clock(&gpu, "tidy").args(["--exact", CASE, "--mode", "graph"]);
    let records = run.finish().records();
    let sharing = &records.result(CASE)["sharing"];
    let [alone, together, launch, shared] =
        ["alone_ns", "together_ns", "launch_ns", "shared_ns"].map(|part| sharing[part].as_f64().expect("a time"));
    assert!(alone > 0.0 && together > 0.0 && launch >= 0.0, "{sharing}");
    assert!((alone - together - launch - shared).abs() < 1.0, "{sharing}");
}

#[test]
fn false_event_times_are_found_in_two_measurements_on_an_exclusive_gpu() {
    let gpu = FakeGpu::new();
    let records = lying(&gpu).finish().records();
    assert_ends(&records, CASE, "time-mismatch", Some("claim-too-short"));
    assert_says(
        &records,
        CASE,
        &["by the referee's clock", "two measurements in a row found this"],
    );
    let result = records.result(CASE);
    assert_eq!(result["notices"], json!([]));
    assert!(median_residual(result) > 25_000_000, "{:#}", result["conservation"]);
    assert_nothing_is_left(&gpu);
    // One worker for each measurement. A sealed case has no control worker.
    assert_eq!(gpu.ledgers_of("worker").len(), 2);
}

#[test]
fn a_generator_panic_in_the_second_measurement_withdraws_no_accusation() {
    let (liar, next) = (
        "host::generator_does_not_begin_again::n=600",
        "sources::good_instantiation::n=600",
    );
    let gpu = FakeGpu::new();
    let run = lying_in(&gpu, "hostile", "honest").args(["--exact", liar, next]);
    let records = run.finish().records();
    assert_ends(&records, liar, "time-mismatch", Some("claim-too-short"));
    let result = records.result(liar);
    let notices = result["notices"].as_array().unwrap();
    assert_eq!(notices.len(), 1, "{notices:?}");
    assert!(
        notices[0].as_str().unwrap().starts_with(
            "the second measurement failed: the input generator failed: it panicked: these inputs \
             were made before (at src/host.rs:"
        ),
        "{notices:?}"
    );
    assert!(median_residual(result) > 25_000_000, "{:#}", result["conservation"]);
    // The next case has another author and another referee.
    let last = records.results().last().unwrap();
    assert_eq!(last["case"], next);
    assert!(last["verdict"] != "error", "{last:#}");
    assert_eq!(
        gpu.ledgers_of("referee")
            .iter()
            .filter(|ledger| ledger["Context"] > 0)
            .count(),
        2
    );
}

#[test]
fn false_claims_in_the_first_measurement_only_pass_as_unverified_with_a_notice() {
    let gpu = FakeGpu::new();
    // Only the worker of the first measurement lies.
    let liars = format!("{}:1", gpu.folder());
    let records = lying(&gpu).env("FAKE_CUDA_CHEATS", &liars).finish().records();
    let result = records.result(CASE);
    assert!(reports_two_measurements(result), "{result:#}");
    assert_eq!(
        (&result["verdict"], &result["grade"]),
        (&json!("pass"), &json!("unverified"))
    );
    let reason = result["grade_reason"].as_str().unwrap();
    assert!(
        reason.ends_with("in the first of two measurements, the claims were too short"),
        "{reason}"
    );
    // Nothing else remains of the first measurement: neither its samples, of half a millisecond,
    // nor its windows.
    let samples = result["samples"].as_array().unwrap();
    assert_eq!(samples.len(), SAMPLES);
    assert!(
        samples.iter().all(|sample| sample.as_f64().unwrap() > 49e6),
        "{samples:?}"
    );
    assert_eq!(result["window_counts"]["timed"], SAMPLES);
    assert_eq!(result["distinct_inputs"], result["windows"]);
    median_residual(result);
    // The wall time covers both measurements.
    let windows = result["windows"].as_u64().unwrap();
    let wall_ns = result["wall_ns"].as_u64().unwrap();
    assert!(
        wall_ns > (windows + SAMPLES as u64) * LASTS_MS * 1_000_000,
        "{windows} windows in {wall_ns} ns"
    );
    assert_nothing_is_left(&gpu);
    assert_eq!(gpu.ledgers_of("worker").len(), 2);
}

/// A hosted case of the fixture `gpu`, so a control worker runs its control windows. It hangs if
/// the attacks cannot find a window's page.
const HOSTED: &str = "copies::waits_for_go_as_well::n=4099";

#[test]
fn a_claim_below_two_empty_events_is_a_protocol_violation() {
    let gpu = FakeGpu::for_host_code();
    let run = under_a_steady_clock(&gpu, "gpu").args(["--exact", HOSTED]);
    let records = run
        .env("FAKE_CUDA_CLAIMED", "0.000001")
        .finish()
        .expect_code(100)
        .records();
    assert_ends(&records, HOSTED, "protocol-violation", Some("bad-claim"));
    assert_says(&records, HOSTED, &["two events with nothing between them are"]);
}

/// Runs cases whose calls wait for the device, on a GPU whose clock bounds claims.
fn waiting(cases: &[&str]) -> Records {
    let gpu = FakeGpu::for_host_code();
    let run = under_exclusive_clock(&gpu, "gpu")
        .args(["--exact"])
        .args(cases.iter().copied());
    let records = run.finish().records();
    assert_nothing_is_left(&gpu);
    records
}

/// Asserts that a case has passed, or is accused as on a busy machine, whose windows differ too
/// much.
fn assert_sound(result: &Value) {
    let accused = result["verdict"] == "time-mismatch" || result["verdict"] == "protocol-violation";
    assert!(accused || result["verdict"] == "pass", "{result:#}");
    assert!(result["window_counts"]["control"].as_u64() >= Some(8), "{result:#}");
    median_residual(result);
}

#[test]
fn the_default_stream_holds_a_call_that_waits_and_the_device_times_it() {
    let cases = [
        "copies::waits_on_the_default_stream::n=4099",
        "copies::does_not_wait::n=4099",
    ];
    let records = waiting(&cases);
    for case in cases {
        let result = records.result(case);
        assert_sound(result);
        assert_eq!(result["execution"], "hosted", "{result:#}");
        assert!(result["call_wall_ns"].as_f64() > Some(0.0), "{result:#}");
        assert_eq!(result["empty_call_ns"], Value::Null);
        assert!(result["event_overhead_ns"].is_number(), "{result:#}");
        assert!(
            !result["notices"].to_string().contains("timed from outside"),
            "{result:#}"
        );
    }
}

#[test]
fn a_call_that_cannot_be_held_is_timed_from_outside_and_bracketed_by_two_clocks() {
    let cases = [
        (
            "copies::waits_for_the_device::n=4099,stream=0",
            "the driver queues nothing after it",
        ),
        ("copies::waits_for_the_device::n=4099,stream=2", ""),
        ("copies::works_again_after_its_wait::n=4099", ""),
    ];
    let records = waiting(&cases.map(|(case, _)| case));
    for (case, why) in cases {
        let result = records.result(case);
        assert_sound(result);
        assert_eq!(result["execution"], "hosted-sync", "{result:#}");
        assert!(result["empty_call_ns"].as_f64() > Some(0.0), "{result:#}");
        assert_eq!(result["call_wall_ns"], Value::Null);
        if result["verdict"] != "pass" {
            continue;
        }
        let notices = result["notices"].to_string();
        let told = "calls are timed from outside, since the default stream cannot hold them: ";
        assert!(notices.contains(told) && notices.contains(why), "{notices}");
        let doubt = result["grade_reason"].to_string();
        // What works on another stream can be right by chance.
        let is_doubted = doubt.contains("right at first and then wrong");
        assert!(!is_doubted || case.ends_with("stream=2"), "{doubt}");
    }
}

#[test]
fn a_call_that_is_held_at_first_and_then_not_is_unverified() {
    let case = "copies::leaves_the_default_stream::n=4099";
    let records = waiting(&[case]);
    let result = records.result(case);
    assert_eq!(
        (&result["verdict"], &result["execution"]),
        (&json!("pass"), &json!("hosted-sync"))
    );
    assert_eq!(result["grade"], "unverified");
    let reason = result["grade_reason"].as_str().expect("a reason");
    assert!(reason.contains("right at first and then wrong"), "{reason}");
}

#[test]
fn what_the_device_does_in_a_call_that_waits_is_in_the_record() {
    let case = "copies::waits_for_the_device::n=4099,stream=0";
    let with_cupti = FakeGpu::for_host_code().and_cupti();
    let record = |gpu: &FakeGpu| {
        let run = gpu.run(&Fixture::new("gpu")).briefly().json();
        run.args(["--exact", case]).finish().records().result(case).clone()
    };
    let result = record(&with_cupti);
    let work = &result["device_work"];
    let numbers = ["kernels", "copies", "memsets", "busy_ns", "span_ns"].map(|field| work[field].as_f64());
    assert_eq!(numbers, [0.0, 2.0, 0.0, 1400.0, 1700.0].map(Some), "{result:#}");
    assert_eq!(work["calls"], result["window_counts"]["parts"]);
    assert_eq!(result["grade"], "unverified");
    let without = record(&FakeGpu::for_host_code());
    assert_eq!(
        (&without["verdict"], &without["device_work"]),
        (&json!("pass"), &Value::Null)
    );
}

/// Its time is not in the claim, but between the referee's timestamps, however busy the machine is.
/// A busy machine may disturb control windows too, or make the bound wide.
#[test]
fn a_call_that_says_too_early_that_it_has_returned_is_found() {
    let case = "copies::returns_twice::n=4099";
    let gpu = FakeGpu::for_host_code();
    let run = under_exclusive_clock(&gpu, "gpu").args(["--exact", case]);
    let records = run.finish().records();
    let result = records.result(case);
    let conservation = &result["conservation"];
    assert!(median_residual(result) > 25_000_000, "{conservation:#}");
    let [excess_ns, bound_ns] = ["excess_ns", "bound_ns"].map(|field| conservation[field].as_f64());
    let is_accused = is_accused(result) || result["cause"] == "works-between-windows";
    assert!(is_accused || excess_ns <= bound_ns, "{result:#}");
}

/// Returns a run of a worker that claims true times but keeps working between its windows. While it
/// lives, launches of the control worker take 30 ms longer.
fn lingering(gpu: &FakeGpu) -> Run {
    under_a_steady_clock(gpu, "gpu")
        .args(["--exact", HOSTED])
        .env("FAKE_CUDA_LINGERS", &format!("{}:30", gpu.folder()))
}

#[test]
fn work_between_windows_is_found_in_two_measurements() {
    let gpu = FakeGpu::for_host_code();
    let records = lingering(&gpu).finish().expect_code(100).records();
    assert_ends(&records, HOSTED, "protocol-violation", Some("works-between-windows"));
    assert_says(
        &records,
        HOSTED,
        &[
            "control windows were slower while the worker lived",
            "two measurements in a row found this",
        ],
    );
    assert_nothing_is_left(&gpu);
    // The control worker, and one worker under test for each measurement.
    assert_eq!(gpu.ledgers_of("worker").len(), 3);
}

/// The bound for such calls is as wide as the times of the referee's host vary. A busy machine may
/// hide the disturbance from the verdict, but not from the record.
#[test]
fn work_between_windows_of_calls_that_wait_for_the_device_is_found() {
    let case = "copies::does_not_wait::n=4099";
    let gpu = FakeGpu::for_host_code();
    let run = under_exclusive_clock(&gpu, "gpu").args(["--exact", case]);
    let run = run.env("FAKE_CUDA_LINGERS", &format!("{}:30", gpu.folder()));
    let records = run.finish().records();
    let result = records.result(case);
    let is_passed = result["verdict"] == "pass" && shows_the_lingering_worker(result);
    assert!(is_passed || result["cause"] == "works-between-windows", "{result:#}");
}

/// Either side's worker could have caused the disturbance. On a busy machine a side may fail in
/// another way. It is then measured alone, and accused there.
#[test]
fn work_between_windows_accuses_no_side_of_a_comparison() {
    let gpu = FakeGpu::for_host_code();
    let folder = tempfile::tempdir().unwrap();
    let archive = camino::Utf8Path::from_path(folder.path()).unwrap().join("gpu.tar.gz");
    let archived = Run::archiving(&Fixture::new("gpu"), &archive).finish().expect_code(0);
    assert!(archive.exists(), "{}", archived.stderr);
    let run = lingering(&gpu).args(["--against-archive", archive.as_str()]);
    let records = run.finish().records();
    let result = records.result(HOSTED);
    let notices = result["notices"].as_array().unwrap();
    let mut notices = notices.iter().filter_map(Value::as_str);
    match notices.find(|notice| notice.starts_with("measured again alone, because it ended in ")) {
        Some(notice) => assert!(
            !notice.contains("`protocol-violation: works-between-windows`"),
            "{notice}"
        ),
        None => assert!(result["cause"] != "works-between-windows", "{result:#}"),
    }
    assert_eq!(result["grade"], "unverified");
    assert!(shows_the_lingering_worker(result), "{result:#}");
}

/// Whether the record tells that control windows were disturbed, or has them as they were.
fn shows_the_lingering_worker(result: &Value) -> bool {
    let reason = result["grade_reason"].as_str().unwrap();
    let of_control = result["conservation"]["control_residuals_ns"].as_array();
    let mut of_control: Vec<i64> = of_control.into_iter().flatten().filter_map(Value::as_i64).collect();
    of_control.sort_unstable();
    let median_ns = of_control.get(of_control.len() / 2);
    reason.contains("control windows were slower while the worker lived") || median_ns > Some(&25_000_000)
}

#[test]
fn work_between_windows_of_one_measurement_is_unverified() {
    let gpu = FakeGpu::for_host_code();
    let first = format!("{}:1", gpu.folder());
    let records = lingering(&gpu).env("FAKE_CUDA_CHEATS", &first).finish().records();
    let result = records.result(HOSTED);
    assert!(reports_two_measurements(result), "{result:#}");
    assert_eq!(
        (&result["verdict"], &result["grade"]),
        (&json!("pass"), &json!("unverified"))
    );
    let reason = result["grade_reason"].as_str().unwrap();
    assert!(
        reason.ends_with("in the first of two measurements, control windows were disturbed while the workers lived"),
        "{reason}"
    );
}

/// In a notice: it passed the second time.
fn reports_two_measurements(result: &Value) -> bool {
    let message = "measured twice; the second result counts";
    let notices = result["notices"].as_array().unwrap();
    let mut notices = notices.iter().filter_map(Value::as_str);
    notices.any(|notice| notice.starts_with(message) && notice.contains("; first result: "))
}

/// Returns the median residual. Checks that each sample has a residual and that there are some
/// residuals of control windows.
#[track_caller]
fn median_residual(result: &Value) -> i64 {
    let numbers = |field: &str| -> Vec<i64> {
        let numbers = result["conservation"][field].as_array();
        let numbers = numbers.unwrap_or_else(|| panic!("no `{field}` in {result:#}"));
        numbers.iter().map(|number| number.as_i64().unwrap()).collect()
    };
    let mut residuals = numbers("residuals_ns");
    assert_eq!(residuals.len(), result["samples"].as_array().unwrap().len());
    residuals.sort_unstable();
    assert!(
        numbers("control_residuals_ns").len() >= 6,
        "{:#}",
        result["conservation"]
    );
    residuals[residuals.len() / 2]
}
