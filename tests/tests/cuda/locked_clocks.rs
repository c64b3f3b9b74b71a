//! `--lock-clocks`, with a management library whose lock outlives the process that sets it.

use std::time::Duration;

use gpubench_tests::{Ending, FakeGpu, Finished, Fixture, Role, Run, Running, wait_until};
use rustix::process::{Signal, kill_process};
use serde_json::json;

use super::{CASE, only_case};

/// `NVML_ERROR_…`.
const NOT_SUPPORTED: u32 = 3;
const NO_PERMISSION: u32 = 4;
const GPU_IS_LOST: u32 = 15;

fn locking(gpu: &FakeGpu, clock: &'static str) -> Run {
    only_case(gpu).json().args(["--lock-clocks", clock])
}

/// Starts a run that measures until it is ended, and waits until its clock is locked.
fn endless(gpu: &FakeGpu) -> Running {
    let run = only_case(gpu).args(["--lock-clocks", "1410", "--profile-time", "1h"]);
    let running = run.start();
    wait_until("a locked clock", Duration::from_secs(60), || gpu.locked_clock());
    running.wait_for_role(Role::Worker);
    running
}

fn assert_unlocked(gpu: &FakeGpu, clock: u32) {
    assert_eq!(gpu.locked_clock(), None);
    assert_eq!(gpu.clock_changes(), [format!("lock {clock}"), "unlock".to_owned()]);
}

fn failing(
    gpu: &FakeGpu,
    clock: &'static str,
    function: &str,
    calls: std::ops::RangeInclusive<u32>,
    code: u32,
) -> Finished {
    let failures: Vec<String> = calls.map(|call| format!("clocks:{function}:{call}:{code}")).collect();
    locking(gpu, clock).env("FAKE_CUDA_FAIL", &failures.join(",")).finish()
}

#[test]
fn a_clock_is_locked_for_the_run_and_recorded() {
    for (asked, clock) in [("1410", 1410), ("base", 1395)] {
        let gpu = FakeGpu::with_clocks();
        let finished = locking(&gpu, asked).finish().expect_code(0);
        assert_unlocked(&gpu, clock);
        let records = finished.records();
        assert_eq!(records.the("run-started")["environment"]["locked_sm_clock_mhz"], clock);
        let environment = &records.result(CASE)["environment"];
        assert_eq!(environment["locked_sm_clock_mhz"], clock);
        assert_eq!(environment["gpu"]["sample_clock_hz"], json!(f64::from(clock) * 1e6));
        let said = format!("Locked the multiprocessors' clock at {clock} MHz");
        assert!(finished.stderr.contains(&said), "{}", finished.stderr);
    }
}

#[test]
fn without_the_option_no_clock_is_touched() {
    let gpu = FakeGpu::with_clocks();
    let finished = only_case(&gpu).json().finish().expect_code(0);
    assert_eq!(gpu.clock_changes(), [""; 0]);
    let records = finished.records();
    let environment = &records.result(CASE)["environment"];
    assert_eq!(environment["locked_sm_clock_mhz"], json!(null));
    assert_eq!(environment["gpu"]["sample_clock_hz"], json!(1.98e9));
}

#[test]
fn a_test_locks_nothing() {
    let gpu = FakeGpu::with_clocks();
    let _ = locking(&gpu, "base").args(["--test"]).finish().expect_code(0);
    assert_eq!(gpu.clock_changes(), [""; 0]);
}

#[test]
fn an_unsupported_clock_is_an_error_with_its_neighbours_and_nothing_is_measured() {
    let gpu = FakeGpu::with_clocks();
    let finished = locking(&gpu, "1400").finish().expect_code(96);
    for words in ["cannot run at `1400` MHz", "`1395`, `1410` MHz"] {
        assert!(finished.stderr.contains(words), "{}", finished.stderr);
    }
    assert_eq!((gpu.clock_changes().len(), &*finished.stdout), (0, ""));
}

#[test]
fn a_driver_that_refuses_is_an_error_with_a_hint() {
    for (code, error, hint) in [
        (NO_PERMISSION, "no permission to lock the clocks", "run as root"),
        (NOT_SUPPORTED, "cannot lock its clocks", "leave out `--lock-clocks`"),
        (
            GPU_IS_LOST,
            "the driver refused to lock the clocks",
            "cargo gpubench doctor",
        ),
    ] {
        let gpu = FakeGpu::with_clocks();
        let finished = failing(&gpu, "1410", "nvmlDeviceSetGpuLockedClocks", 1..=1, code).expect_code(96);
        assert_eq!(finished.errors().len(), 1, "{}", finished.stderr);
        for words in [error, hint] {
            assert!(finished.stderr.contains(words), "{}", finished.stderr);
        }
        assert!(!finished.stderr.contains("warning"), "{}", finished.stderr);
        assert_eq!((gpu.clock_changes().len(), &*finished.stdout), (0, ""));
    }
}

#[test]
fn a_gpu_without_nvml_cannot_lock_its_clocks() {
    let gpu = FakeGpu::new();
    let finished = locking(&gpu, "base").finish().expect_code(96);
    assert!(
        finished.stderr.contains("clocks of this GPU cannot be reached"),
        "{}",
        finished.stderr
    );
}

#[test]
fn the_cpu_device_has_no_clocks_to_lock() {
    let run = Run::on(&Fixture::new("tidy")).briefly().args(["--exact", CASE]);
    let finished = run
        .args(["--device", "cpu", "--lock-clocks", "base"])
        .finish()
        .expect_code(96);
    assert!(
        finished
            .stderr
            .contains("the CPU device has no clocks that can be locked"),
        "{}",
        finished.stderr
    );
}

#[test]
fn a_wrong_clock_is_an_error_of_the_command_line() {
    let run = Run::on(&Fixture::new("tidy")).args(["--lock-clocks", "fast"]);
    let finished = run.finish().expect_code(2);
    assert!(
        finished.stderr.contains("must be `base` or a number of MHz"),
        "{}",
        finished.stderr
    );
}

#[test]
fn a_killed_run_leaves_no_lock() {
    let gpu = FakeGpu::with_clocks();
    let running = endless(&gpu);
    running.signal(Signal::KILL);
    // This also waits for the process that unlocks.
    assert_eq!(running.finish().ending, Ending::Signal(Signal::KILL.as_raw()));
    assert_unlocked(&gpu, 1410);
}

#[test]
fn an_interrupted_run_leaves_no_lock() {
    for signal in [Signal::INT, Signal::TERM] {
        let gpu = FakeGpu::with_clocks();
        let running = endless(&gpu);
        running.signal(signal);
        let _ = running.finish().expect_code(130);
        assert_unlocked(&gpu, 1410);
    }
}

#[test]
fn the_process_that_unlocks_ignores_the_signals_that_end_a_run() {
    let gpu = FakeGpu::with_clocks();
    let running = endless(&gpu);
    let guardian = running.wait_for_role(Role::Guardian).pid;
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        kill_process(guardian, signal).expect("it runs");
    }
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(gpu.locked_clock(), Some(1410));
    running.signal(Signal::KILL);
    let _ = running.finish();
    assert_unlocked(&gpu, 1410);
}

#[test]
fn a_lock_that_may_be_left_is_a_warning_with_the_way_to_remove_it() {
    let gpu = FakeGpu::with_clocks();
    let running = endless(&gpu);
    kill_process(running.wait_for_role(Role::Guardian).pid, Signal::KILL).expect("it runs");
    running.signal(Signal::INT);
    let finished = running.finish().expect_code(130);
    assert!(
        finished.stderr.contains("may still be locked") && finished.stderr.contains("nvidia-smi -i GPU-0"),
        "{}",
        finished.stderr
    );
}

#[test]
fn unlocking_is_tried_again() {
    let gpu = FakeGpu::with_clocks();
    let finished = failing(&gpu, "1410", "nvmlDeviceResetGpuLockedClocks", 1..=3, GPU_IS_LOST).expect_code(0);
    assert!(!finished.stderr.contains("warning"), "{}", finished.stderr);
    assert_unlocked(&gpu, 1410);
}

#[test]
fn a_driver_that_never_unlocks_is_a_warning_and_the_results_stay() {
    let gpu = FakeGpu::with_clocks();
    let finished = failing(&gpu, "1410", "nvmlDeviceResetGpuLockedClocks", 1..=99, GPU_IS_LOST).expect_code(0);
    assert!(finished.stderr.contains("may still be locked"), "{}", finished.stderr);
    assert_eq!(finished.records().result(CASE)["verdict"], "pass");
}

#[test]
fn two_runs_do_not_undo_each_others_lock() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().to_str().expect("UTF-8");
    let gpu = FakeGpu::with_clocks();
    let first = only_case(&gpu).args(["--lock-clocks", "1410", "--profile-time", "1h"]);
    let first = first.env("XDG_RUNTIME_DIR", folder).start();
    wait_until("a locked clock", Duration::from_secs(60), || gpu.locked_clock());
    let second = locking(&gpu, "1965").args(["--no-wait"]).env("XDG_RUNTIME_DIR", folder);
    let second = second.finish().expect_code(96);
    assert!(
        second.stderr.contains("another run has locked the clocks"),
        "{}",
        second.stderr
    );
    assert!(
        second.stderr.contains("a setting already limits the clocks"),
        "{}",
        second.stderr
    );
    assert_eq!(gpu.locked_clock(), Some(1410));
    first.signal(Signal::INT);
    let _ = first.finish().expect_code(130);
    assert_unlocked(&gpu, 1410);
}
