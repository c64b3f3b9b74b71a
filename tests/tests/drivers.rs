//! Unusable CUDA drivers: the run reports them in one line, or continues without them.
#![forbid(unsafe_code)]

use std::process::Command;

use gpubench_tests::{FakeGpu, Fixture, Run};

const CASE: &str = "sums::one_thread_a_row::rows=33,cols=100";

/// Returns a run that finds a driver with these functions.
fn run_with(functions: &str, arguments: &[&str]) -> (tempfile::TempDir, Run) {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let source = folder.path().join("driver.c");
    std::fs::write(&source, functions).expect("a file can be written");
    let compiled = Command::new("cc")
        .args(["-shared", "-fPIC", "-w", "-o"])
        .args([&folder.path().join("libcuda.so"), &source])
        .status();
    assert!(compiled.is_ok_and(|status| status.success()), "`cc` makes a library");
    let path = folder.path().to_str().expect("a folder's name is text");
    let run = Run::on(&Fixture::new("tidy"))
        .briefly()
        .args(["--exact", CASE])
        .args(arguments.iter().copied())
        .env("LD_LIBRARY_PATH", path);
    (folder, run)
}

/// A library with the driver's name and nothing else.
const HOLLOW: &str = "int cuInit(unsigned flags) { return 0; }";

#[test]
fn a_driver_with_missing_functions_ends_a_run_that_requests_cuda() {
    let (_folder, run) = run_with(HOLLOW, &["--device", "cuda"]);
    let finished = run.finish().expect_code(96);
    assert_eq!(finished.errors().len(), 1, "{}", finished.stderr);
    let error = finished.errors()[0];
    assert!(error.contains("too old: it lacks `cu"), "{error}");
    for words in ["driver 550 (CUDA 12.4)", "`cargo gpubench doctor`"] {
        assert!(finished.stderr.contains(words), "{}", finished.stderr);
    }
    assert!(!finished.stderr.contains("panicked"), "{}", finished.stderr);
}

#[test]
fn an_unusable_driver_gives_a_warning_and_the_cpu_device_is_used() {
    let (_folder, run) = run_with(HOLLOW, &[]);
    let finished = run.json().finish().expect_code(0);
    assert!(
        finished.stderr.contains("not using a GPU") && finished.stderr.contains("too old"),
        "{}",
        finished.stderr
    );
    assert_eq!(finished.records().result(CASE)["verdict"], "pass");
}

#[test]
fn the_driver_is_opened_by_its_own_name_and_not_by_that_of_a_stub_for_linkers() {
    let gpu = FakeGpu::new();
    let (folder, _) = run_with(HOLLOW, &[]);
    let driver = std::path::PathBuf::from(gpu.nvrtc());
    let both = format!(
        "{}:{}",
        folder.path().display(),
        driver.parent().expect("a folder").display()
    );
    let run = gpu.run(&Fixture::new("tidy")).args(["--test", "--exact", CASE]);
    let _ = run.env("LD_LIBRARY_PATH", &both).finish().expect_code(0);
}
