//! The whole CUDA path in real processes. A double of the driver and of NVRTC
//! (`fake-cuda/README.md`) replaces the GPU.
#![forbid(unsafe_code)]

mod audit;
mod clock;
mod contests;
mod energy;
mod graphs;
mod hardware;
mod kernels;
mod locked_clocks;
mod places;
mod several;
mod structs;
mod throttling;

use std::sync::OnceLock;

use gpubench_tests::{FakeGpu, Finished, Fixture, Ledger, Records, Run};
use serde_json::{Value, json};

/// A fast case of `tidy`.
const CASE: &str = "sums::one_thread_a_row::rows=33,cols=100";

/// Resources that must be released at the end of a case.
const OF_A_CASE: [&str; 4] = ["Allocation", "Reservation", "Mapping", "Registration"];

fn tidy(gpu: &FakeGpu) -> Run {
    gpu.run(&Fixture::new("tidy")).briefly()
}

fn only_case(gpu: &FakeGpu) -> Run {
    tidy(gpu).args(["--exact", CASE])
}

#[track_caller]
fn assert_ends(records: &Records, case: &str, verdict: &str, cause: Option<&str>) {
    let result = records.result(case);
    assert_eq!(
        (&result["verdict"], &result["cause"]),
        (&json!(verdict), &json!(cause)),
        "{case}: {}",
        result["message"]
    );
}

#[track_caller]
fn assert_says(records: &Records, case: &str, words: &[&str]) {
    let message = records.result(case)["message"].as_str().unwrap_or_default();
    for word in words {
        assert!(message.contains(word), "{case}: `{word}` is not in {message}");
    }
}

/// Checks that a single referee served the whole run and had no resources of any case at its end.
#[track_caller]
fn assert_nothing_is_left(gpu: &FakeGpu) -> Ledger {
    let mut ledgers = gpu.ledgers_of("referee");
    ledgers.retain(|ledger| ledger["Context"] > 0);
    assert_eq!(ledgers.len(), 1, "{ledgers:?}");
    let ledger = ledgers.remove(0);
    for kind in OF_A_CASE {
        assert_eq!(ledger[kind], 0, "{kind} in {ledger:?}");
    }
    ledger
}

/// Returns one run of all cases of the crate.
fn honest() -> &'static (FakeGpu, Finished, Records) {
    static RUN: OnceLock<(FakeGpu, Finished, Records)> = OnceLock::new();
    RUN.get_or_init(|| {
        let gpu = FakeGpu::new();
        // No case of these modules makes the referee fail. A replaced referee would lose everything
        // that it had.
        let modules = [
            "arguments",
            "axes",
            "^devices::",
            "memsets",
            "references::by_addition",
            "steps",
            "sums",
        ];
        let finished = tidy(&gpu).json().args(modules).finish().expect_code(0);
        let records = finished.records();
        (gpu, finished, records)
    })
}

#[test]
fn the_gpu_is_selected_automatically() {
    let (_, finished, records) = honest();
    let device = &records.the("run-started")["device"];
    assert_eq!(
        (&device["kind"], &device["name"]),
        (&json!("cuda"), &json!("Fake GPU")),
        "{device}"
    );
    assert_eq!(device["multiprocessors"], 132);
    assert!(finished.errors().is_empty(), "{}", finished.stderr);
}

#[test]
fn honest_cases_pass_on_the_gpu() {
    let (_, _, records) = honest();
    for result in records.results() {
        let expected = match result["benchmark"].as_str() {
            Some("devices::needs_the_cpu_device") => "skipped",
            _ if result["cause"] == "not-applicable" => "skipped",
            _ => "pass",
        };
        assert_eq!(result["verdict"], expected, "{}: {}", result["case"], result["message"]);
    }
    assert_ends(records, "devices::needs_a_gpu", "pass", None);
    assert_ends(records, "devices::needs_a_hopper", "pass", None);
}

#[test]
fn the_grade_says_that_the_gpu_is_shared() {
    let (_, _, records) = honest();
    let result = records.result(CASE);
    assert_eq!(
        (&result["execution"], &result["grade"]),
        (&json!("sealed"), &json!("unverified"))
    );
    let reason = result["grade_reason"].as_str().unwrap_or_default();
    assert!(reason.contains("MPS"), "{reason}");
}

#[test]
fn nothing_is_left_allocated_when_cases_end() {
    let (gpu, ..) = honest();
    assert_nothing_is_left(gpu);
}

#[test]
fn the_referee_holds_no_more_after_many_cases_than_after_one() {
    let (many, ..) = honest();
    let one = FakeGpu::new();
    let _ = only_case(&one).finish().expect_code(0);
    let of_run = |gpu| {
        let ledger = assert_nothing_is_left(gpu);
        ["Private", "Stream", "Event", "Context"].map(|kind| ledger[kind])
    };
    assert_eq!(of_run(many), of_run(&one));
}

#[test]
fn the_header_names_the_device() {
    let gpu = FakeGpu::new();
    let finished = only_case(&gpu).finish().expect_code(0);
    let header = finished.stdout.lines().next().unwrap_or_default();
    assert!(
        header.contains("CUDA device: Fake GPU, 132 SMs, sm_90") && header.contains("driver CUDA 12.8"),
        "{header}"
    );
}

#[test]
fn the_cpu_device_can_be_selected_on_a_machine_with_a_gpu() {
    let gpu = FakeGpu::new();
    let finished = only_case(&gpu).args(["--device", "cpu"]).json().finish().expect_code(0);
    assert_eq!(finished.records().the("run-started")["device"]["kind"], "cpu");
    assert!(gpu.ledgers_of("worker").is_empty());
}

/// Unusable drivers and GPUs: environment variables, and words of the error.
const UNUSABLE: &[(&str, &str, &[&str])] = &[
    ("FAKE_CUDA_INIT", "34", &["link-time stub", "CUDA_ERROR_STUB_LIBRARY"]),
    ("FAKE_CUDA_INIT", "100", &["finds no GPU", "CUDA_ERROR_NO_DEVICE"]),
    (
        "FAKE_CUDA_INIT",
        "803",
        &["different versions", "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"],
    ),
    ("FAKE_CUDA_INIT", "999", &["failed to initialize", "CUDA_ERROR_UNKNOWN"]),
    (
        "FAKE_CUDA_INIT",
        "4711",
        &["failed to initialize", "unknown result `4711`"],
    ),
    ("FAKE_CUDA_VERSION", "11080", &["too old", "CUDA 11.8"]),
    ("FAKE_CUDA_DEVICES", "0", &["finds no GPU"]),
    ("FAKE_CUDA_ATTRIBUTES", "75=7", &["compute capability 7.0"]),
    ("FAKE_CUDA_ATTRIBUTES", "20=2", &["prohibited compute mode"]),
    (
        "FAKE_CUDA_ATTRIBUTES",
        "20=3,133=0",
        &["exclusive-process compute mode"],
    ),
    ("FAKE_CUDA_ATTRIBUTES", "102=0", &["virtual memory management"]),
    (
        "FAKE_CUDA_ATTRIBUTES",
        "103=0",
        &["share memory through file descriptors"],
    ),
    (
        "FAKE_CUDA_FAIL",
        "referee:cuDevicePrimaryCtxRetain:1:2",
        &["CUDA_ERROR_OUT_OF_MEMORY"],
    ),
    (
        "FAKE_CUDA_FAIL",
        "referee:cuModuleLoadDataEx:1:222,referee:cuModuleLoadDataEx:2:222",
        &["PTX is newer"],
    ),
];

#[test]
fn an_unusable_gpu_that_was_requested_is_one_error_with_a_hint_and_exit_code_96() {
    for (variable, value, words) in UNUSABLE {
        let gpu = FakeGpu::new();
        let finished = only_case(&gpu).args(["--device", "cuda"]).env(variable, value).finish();
        let finished = finished.expect_code(96);
        assert_eq!(finished.errors().len(), 1, "{variable}={value}: {}", finished.stderr);
        for word in words.iter().chain(&["hint"]) {
            assert!(finished.stderr.contains(word), "`{word}`: {}", finished.stderr);
        }
        assert!(!finished.stderr.contains("panicked"), "{}", finished.stderr);
    }
}

#[test]
fn an_unusable_gpu_gives_a_warning_and_the_cpu_device_is_used() {
    for (variable, value, words) in UNUSABLE {
        let gpu = FakeGpu::new();
        let finished = only_case(&gpu).json().env(variable, value).finish().expect_code(0);
        let context = format!("{variable}={value}: {}", finished.stderr);
        let warnings: Vec<&str> = finished
            .stderr
            .lines()
            .filter(|line| line.starts_with("warning"))
            .collect();
        assert!(warnings.len() == 1 && finished.errors().is_empty(), "{context}");
        for word in words.iter().chain(&["not using a GPU"]) {
            assert!(warnings[0].contains(word), "`{word}`: {context}");
        }
        assert_eq!(
            finished.records().the("run-started")["device"]["kind"],
            "cpu",
            "{context}"
        );
    }
}

#[test]
fn a_missing_gpu_is_an_error_that_lists_the_present_ones() {
    let gpu = FakeGpu::new();
    let run = only_case(&gpu)
        .args(["--device", "cuda:2"])
        .env("FAKE_CUDA_DEVICES", "2");
    let finished = run.finish().expect_code(96);
    assert!(finished.errors()[0].contains("`cuda:2`"), "{}", finished.stderr);
    assert!(finished.stderr.contains("`cuda:0` to `cuda:1`"), "{}", finished.stderr);
}

#[test]
fn a_case_too_large_for_gpu_memory_fails_and_the_next_one_runs() {
    let gpu = FakeGpu::new();
    let run = tidy(&gpu).json().args(["axes::small_on_the_cpu::n=16777216", CASE]);
    let finished = run.env("FAKE_CUDA_LARGEST", "16777216").finish().expect_code(100);
    let records = finished.records();
    let large = "axes::small_on_the_cpu::n=16777216";
    assert_ends(&records, large, "error", Some("out-of-memory"));
    assert_says(
        &records,
        large,
        &["of device memory", "CUDA_ERROR_OUT_OF_MEMORY", "cuMemCreate"],
    );
    assert_ends(&records, CASE, "pass", None);
}

/// The third allocation opens the second case, since a test places no buffers anew. Its failure
/// ends the referee, and the third case gets a new one.
#[test]
fn a_driver_that_fails_while_a_case_is_opened_fails_that_case_alone() {
    for (call, cause) in [
        ("cuMemCreate:3:2", "out-of-memory"),
        ("cuMemExportToShareableHandle:3:999", "referee-failed"),
        ("cuMemSetAccess:3:999", "referee-failed"),
    ] {
        let gpu = FakeGpu::new();
        let fail = format!("referee:{call}");
        let run = tidy(&gpu).json().args(["sums", "--test"]);
        let finished = run.env("FAKE_CUDA_FAIL", &fail).finish();
        let records = finished.expect_code(100).records();
        let ends: Vec<[&Value; 2]> = records.results().map(|it| [&it["verdict"], &it["cause"]]).collect();
        let pass = [json!("pass"), Value::Null];
        let failed = [json!("error"), json!(cause)];
        let expected = [&pass, &failed, &pass].map(|[verdict, cause]| [verdict, cause]);
        assert_eq!(ends, expected, "{call}");
    }
}

#[test]
fn a_driver_that_refuses_a_worker_is_not_the_plans_fault() {
    for (call, cause) in [
        ("cuDevicePrimaryCtxRetain:1:999", "worker-failed"),
        ("cuDevicePrimaryCtxRetain:1:2", "out-of-memory"),
        ("cuMemImportFromShareableHandle:1:1", "worker-failed"),
        ("cuMemSetAccess:2:2", "out-of-memory"),
        ("cuStreamCreate:2:999", "worker-failed"),
        ("cuMemHostRegister_v2:1:999", "worker-failed"),
        ("cuEventElapsedTime:1:999", "worker-failed"),
        ("cuModuleLoadDataEx:2:209", "plan-invalid"),
    ] {
        let gpu = FakeGpu::new();
        let fail = format!("worker:{call}");
        let finished = only_case(&gpu).json().env("FAKE_CUDA_FAIL", &fail).finish();
        let records = finished.expect_code(100).records();
        assert_ends(&records, CASE, "error", Some(cause));
        let function = call.split(':').next().unwrap_or_default();
        assert_says(&records, CASE, &[function]);
    }
}

#[test]
fn a_single_worker_can_run_out_of_memory() {
    for alone in [&["--workers", "1"][..], &["--test"], &["--profile-time", "1s"]] {
        let gpu = FakeGpu::new();
        let run = only_case(&gpu).json().args(alone.iter().copied());
        let finished = run
            .env("FAKE_CUDA_FAIL", "worker:cuDevicePrimaryCtxRetain:1:2")
            .finish();
        let records = finished.expect_code(100).records();
        assert_ends(&records, CASE, "error", Some("out-of-memory"));
    }
}

/// Returns a run of the crate's faults, each followed by a case that passes.
fn hostile() -> &'static (FakeGpu, Records) {
    static RUN: OnceLock<(FakeGpu, Records)> = OnceLock::new();
    RUN.get_or_init(|| {
        let gpu = FakeGpu::new();
        let run = gpu.run(&Fixture::new("hostile")).briefly().json();
        let run = run.giving_up("loops_forever", "3s");
        let run = run.args(["faults", "memory::honest", "memory::reads_null"]);
        let records = run.finish().expect_code(100).records();
        (gpu, records)
    })
}

#[test]
fn each_kind_of_kernel_fault_has_a_cause() {
    let (_, records) = hostile();
    for (case, cause) in [
        ("memory::reads_null", "out-of-bounds"),
        ("faults::executes_an_illegal_instruction", "illegal-instruction"),
        ("faults::fails_an_assertion", "trap"),
        ("faults::recurses_forever", "stack-overflow"),
        ("faults::divides_by_zero", "launch-failed"),
    ] {
        assert_ends(records, case, "crashed", Some(cause));
        let kernel = case.rsplit("::").next().unwrap_or_default();
        assert_says(records, case, &[&format!("kernel `{kernel}`"), "CUDA_ERROR_", "call 1"]);
    }
}

#[test]
fn a_kernel_that_never_ends_is_killed_after_the_timeout_and_the_next_case_passes() {
    let (_, records) = hostile();
    assert_ends(records, "faults::loops_forever", "timeout", Some("slow"));
    assert_says(records, "faults::loops_forever", &["3s", "--timeout"]);
    assert_ends(records, "memory::honest", "pass", None);
}

#[test]
fn nothing_is_left_allocated_when_workers_fault() {
    let (gpu, _) = hostile();
    assert_nothing_is_left(gpu);
}

#[test]
fn a_fault_that_sticks_to_the_context_ends_one_case() {
    let gpu = FakeGpu::new();
    let faults = "sums::one_block_a_row<32>:700,scale<forward>:716,scale<backward>:719,numbers_of_every_width:214";
    let run = tidy(&gpu).json().env("FAKE_CUDA_FAULTS", faults);
    let run = run.args(["sums", "arguments", "axes::scale::n=100,gain=0.5,negate=false"]);
    let records = run.finish().expect_code(100).records();
    for (case, cause, result) in [
        (
            "sums::one_block_a_row::rows=33,cols=100,threads=32",
            "out-of-bounds",
            "CUDA_ERROR_ILLEGAL_ADDRESS",
        ),
        (
            "axes::scale::n=100,gain=0.5,negate=false,order=forward",
            "misaligned-access",
            "CUDA_ERROR_MISALIGNED_ADDRESS",
        ),
        (
            "axes::scale::n=100,gain=0.5,negate=false,order=backward",
            "launch-failed",
            "CUDA_ERROR_LAUNCH_FAILED",
        ),
        (
            "arguments::numbers_of_every_width::n=64",
            "ecc-error",
            "CUDA_ERROR_ECC_UNCORRECTABLE",
        ),
    ] {
        assert_ends(&records, case, "crashed", Some(cause));
        assert_says(&records, case, &[result]);
    }
    for case in [
        CASE,
        "sums::one_block_a_row::rows=33,cols=100,threads=128",
        "arguments::parts_of_buffers",
    ] {
        assert_ends(&records, case, "pass", None);
    }
    assert_nothing_is_left(&gpu);
}

/// Runs three cases with `variable` set for the first one's kernel. Checks that only this case
/// fails, with the given verdict, and that one referee served all three.
#[track_caller]
fn assert_only_its_case_is_lost(variable: &str, planned: &str, ends: [&str; 2], words: &[&str]) {
    let gpu = FakeGpu::new();
    assert_only_its_case_is_lost_in(&gpu, tidy(&gpu), [variable, planned], ends, words);
}

#[track_caller]
fn assert_only_its_case_is_lost_in(
    gpu: &FakeGpu,
    run: Run,
    [variable, planned]: [&str; 2],
    [verdict, cause]: [&str; 2],
    words: &[&str],
) {
    let planned = format!("sums::one_block_a_row<32>:{planned}");
    let run = run.json().args(["sums"]).env(variable, &planned);
    let records = run.finish().expect_code(100).records();
    let lost = "sums::one_block_a_row::rows=33,cols=100,threads=32";
    assert_ends(&records, lost, verdict, Some(cause));
    assert_says(&records, lost, words);
    let next = "sums::one_block_a_row::rows=33,cols=100,threads=128";
    let order: Vec<&Value> = records.results().map(|result| &result["case"]).collect();
    assert_eq!(order, [lost, next, CASE]);
    for case in [next, CASE] {
        assert_ends(&records, case, "pass", None);
        let result = records.result(case);
        let reason = result["grade_reason"].as_str().unwrap_or_default();
        assert!(result["grade"] == "unverified" && reason.contains("MPS"), "{result:#}");
    }
    assert_nothing_is_left(gpu);
}

#[test]
fn a_worker_that_dies_before_go_ends_its_case_alone() {
    for moment in ["queueing", "waiting"] {
        let planned = format!("{moment}:9");
        assert_only_its_case_is_lost(
            "FAKE_CUDA_SIGNALS",
            &planned,
            ["crashed", "killed"],
            &["SIGKILL", "call 1"],
        );
    }
}

#[test]
fn a_worker_that_dies_between_go_and_done_ends_its_case_alone() {
    assert_only_its_case_is_lost(
        "FAKE_CUDA_SIGNALS",
        "running:9",
        ["crashed", "killed"],
        &["SIGKILL", "call 1"],
    );
}

#[test]
fn a_worker_that_is_stopped_ends_its_case_alone_when_its_time_is_up() {
    for moment in ["queueing", "waiting", "running"] {
        let planned = format!("{moment}:19");
        let gpu = FakeGpu::new();
        let run = tidy(&gpu).giving_up("threads=32$", "3s");
        let planned = ["FAKE_CUDA_SIGNALS", &planned];
        assert_only_its_case_is_lost_in(&gpu, run, planned, ["timeout", "slow"], &["3s", "--timeout"]);
    }
}

#[test]
fn a_worker_that_writes_done_of_another_window_ends_its_case_alone() {
    for added in ["1", "-1"] {
        let words = ["the end of call 1", "its device does not"];
        assert_only_its_case_is_lost("FAKE_CUDA_NUMBERS", added, ["protocol-violation", "bad-claim"], &words);
    }
}

#[test]
fn a_reference_that_faults_in_the_referee_ends_its_case_alone() {
    let gpu = FakeGpu::new();
    let run = tidy(&gpu).json().env("FAKE_CUDA_FAULTS", "twice:700");
    let records = run
        .args(["references::by_addition", CASE])
        .finish()
        .expect_code(100)
        .records();
    assert_ends(&records, "references::by_addition", "error", Some("reference-failed"));
    assert_ends(&records, CASE, "pass", None);
}

#[test]
fn an_unusable_nvrtc_ends_a_run_that_requests_it() {
    let gpu = FakeGpu::new();
    let folder = tempfile::tempdir().expect("a folder can be made");
    let library = folder.path().join("libnvrtc.so.12");
    std::fs::write(&library, "no library").expect("a file can be written");
    let path = library.to_str().expect("the name is text");
    let run = gpu.run_without_nvrtc(&Fixture::new("tidy")).briefly();
    let finished = run.args(["--exact", CASE, "--nvrtc", path]).finish().expect_code(96);
    assert_eq!(finished.errors().len(), 1, "{}", finished.stderr);
    assert!(finished.errors()[0].contains(path), "{}", finished.stderr);
}

#[test]
fn a_compiler_that_crashes_fails_the_cases_that_need_it() {
    let gpu = FakeGpu::new();
    let cache = tempfile::tempdir().expect("a folder can be made");
    let cache = cache.path().to_str().expect("the name is text");
    let run = tidy(&gpu)
        .json()
        .env("FAKE_NVRTC_CRASH", "1")
        .env("GPUBENCH_KERNEL_CACHE", cache);
    let finished = run.args([CASE, "devices::needs_a_gpu"]).finish().expect_code(101);
    let records = finished.records();
    assert_ends(&records, CASE, "error", Some("compile-failed"));
    assert_says(&records, CASE, &["NVRTC", "SIGABRT"]);
    assert_ends(&records, "devices::needs_a_gpu", "pass", None);
}

#[test]
fn errors_of_the_compiler_have_the_users_files_and_lines() {
    let gpu = FakeGpu::new();
    let run = gpu.run(&Fixture::new("hostile")).briefly().json();
    let records = run.args(["sources"]).finish().expect_code(101).records();
    for (case, place) in [
        ("sources::does_not_compile", "src/sources/broken.cu:5: error"),
        (
            "sources::includes_what_does_not_compile",
            "src/sources/broken_header.cuh:4: error",
        ),
        ("sources::bad_instantiation", "times<no_such_factor>"),
    ] {
        assert_ends(&records, case, "error", Some("compile-failed"));
        assert_says(&records, case, &[place, "sm_90"]);
    }
    for case in ["sources::honest", "sources::good_instantiation"] {
        assert_ends(&records, case, "pass", None);
    }
}
