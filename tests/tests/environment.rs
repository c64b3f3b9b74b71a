//! Missing requirements of a run: each is reported in one clear line.
#![forbid(unsafe_code)]

use std::fs::OpenOptions;
use std::process::Command;

use gpubench_tests::{Finished, Fixture, Records, Run};
use serde_json::Value;

const CASE: &str = "sums::one_thread_a_row::rows=33,cols=100";

fn run() -> Run {
    Run::on(&Fixture::new("tidy")).briefly().args(["--exact", CASE])
}

/// Returns the error. Checks that it is the only one and contains `words`.
#[track_caller]
fn the_error<'a>(finished: &'a Finished, words: &[&str]) -> &'a str {
    let errors = finished.errors();
    assert_eq!(errors.len(), 1, "{}", finished.stderr);
    for word in words {
        assert!(
            finished.stderr.contains(word),
            "`{word}` is not in:\n{}",
            finished.stderr
        );
    }
    assert!(!finished.stderr.contains("panicked"), "{}", finished.stderr);
    errors[0]
}

#[test]
fn an_export_that_cannot_be_created_is_an_error_before_anything_is_measured() {
    let finished = run()
        .args(["--export-json", "/dev/null/results.json"])
        .finish()
        .expect_code(110);
    let error = the_error(&finished, &["Not a directory"]);
    assert!(error.contains("/dev/null/results.json"), "{error}");
}

#[test]
fn an_export_to_a_full_disk_is_an_error_and_the_results_are_still_printed() {
    for option in [
        "--export-json",
        "--export-csv",
        "--export-samples",
        "--export-markdown",
        "--export-junit",
    ] {
        let finished = run().json().args([option, "/dev/full"]).finish().expect_code(110);
        let error = the_error(&finished, &["No space left on device"]);
        assert!(error.contains("/dev/full"), "{error}");
        assert_eq!(finished.records().result(CASE)["verdict"], "pass");
        assert_eq!(finished.records().with_reason("run-finished").count(), 1);
    }
}

#[test]
fn standard_output_on_a_full_disk_is_an_error_and_the_export_is_complete() {
    let directory = tempfile::tempdir().expect("a directory");
    let export = directory.path().join("results.json");
    let full = OpenOptions::new().write(true).open("/dev/full").expect("it opens");
    let arguments = ["--export-json", export.to_str().expect("UTF-8")];
    let finished = run().args(arguments).finish_onto(full.into()).expect_code(110);
    the_error(&finished, &["standard output", "No space left on device"]);
    let records = Records::parse(&std::fs::read_to_string(export).expect("it is written"));
    assert_eq!(records.result(CASE)["verdict"], "pass");
}

#[test]
fn a_closed_pipe_on_standard_output_is_silent_and_no_failure() {
    for run in [run().json(), run().args(["--list"]), run().args(["--help"])] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let finished = run.finish_onto(writer.into()).expect_code(0);
        assert!(
            finished.errors().is_empty() && !finished.stderr.contains("panicked"),
            "{}",
            finished.stderr
        );
    }
}

#[test]
fn an_unwritable_target_directory_is_an_error_with_its_path() {
    let finished = run()
        .env("CARGO_TARGET_DIR", "/proc/no-target")
        .finish()
        .expect_code(101);
    assert!(finished.stderr.contains("/proc/no-target"), "{}", finished.stderr);
    assert!(
        finished.errors().iter().any(|error| error.contains("`tidy`")),
        "{}",
        finished.stderr
    );
    assert_eq!(finished.stdout, "");
}

#[test]
fn whatever_targets_the_configuration_names_the_host_is_built() {
    let host = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let several = format!("build.target=[\"{host}\", \"wasm32-unknown-unknown\"]");
    let run = || Run::on(&Fixture::new("tidy")).args(["--cargo-profile", "dev", "--no-run"]);
    for run in [
        run().args(["--config", &several]),
        run().args(["--config", "build.target=\"wasm32-unknown-unknown\""]),
        run().env("CARGO_BUILD_TARGET", "wasm32-unknown-unknown"),
    ] {
        let said = run.finish().expect_code(0).stderr;
        assert!(said.contains(&format!("/{host}/debug/")), "{said}");
    }
}

/// Runs with another file system mounted over the kernel cache. Returns `None` if mounting is not
/// permitted.
fn with_kernel_cache(options: &str) -> Option<Finished> {
    let cache = Fixture::target_directory().join("gpubench/kernels");
    std::fs::create_dir_all(&cache).expect("a directory");
    let inside = format!("mount -t tmpfs -o {options} tmpfs '{cache}'");
    let may_mount = Command::new("unshare")
        .args(["--map-root-user", "--mount", "sh", "-c", &inside])
        .output();
    if !may_mount.is_ok_and(|output| output.status.success()) {
        return None;
    }
    let shell = format!(
        "exec unshare --map-root-user --mount sh -c \"{inside} && exec \\\"\\$0\\\" \\\"\\$@\\\"\" \"$0\" \"$@\""
    );
    Some(
        Run::after(&shell, &Fixture::new("tidy"))
            .briefly()
            .json()
            .args(["--exact", CASE, "axes::no-axes"])
            .finish(),
    )
}

fn assert_kernels_fail(finished: Finished, reason: &str, cause: &str, code: i32) {
    let finished = finished.expect_code(code);
    the_error(&finished, &[reason, "gpubench/kernels"]);
    let records = finished.records();
    let result = records.result(CASE);
    assert_eq!(
        (&result["verdict"], &result["cause"]),
        (&Value::from("error"), &Value::from(cause))
    );
    assert!(
        result["message"]
            .as_str()
            .is_some_and(|message| message.contains(reason)),
        "{}",
        result["message"]
    );
    assert_eq!(records.result("axes::no-axes")["verdict"], "pass", "it needs no kernel");
}

/// If mounting is not permitted, a file size limit simulates the full disk.
#[test]
fn a_full_disk_for_compiled_kernels_is_an_error() {
    if let Some(finished) = with_kernel_cache("size=64k") {
        return assert_kernels_fail(finished, "No space left on device", "disk-full", 110);
    }
    eprintln!("no file system can be mounted here: files are kept from growing instead");
    a_failed_memory_allocation_is_an_error();
}

#[test]
fn an_unwritable_kernel_cache_is_an_error() {
    match with_kernel_cache("ro") {
        Some(finished) => assert_kernels_fail(finished, "Read-only file system", "compile-failed", 101),
        None => eprintln!("no file system can be mounted here: not tested"),
    }
}

/// A file size limit also limits shared memory.
#[test]
fn a_failed_memory_allocation_is_an_error() {
    // Build the library and its kernels first, because cargo and the compiler write files too.
    let _ = run().finish().expect_code(0);
    // 8 MiB are enough for copies of both, but not for 13 MB of numbers.
    let run = Run::after("trap '' XFSZ; ulimit -f 16384", &Fixture::new("tidy"))
        .briefly()
        .json();
    let large = "sums::one_thread_a_row::rows=33,cols=100000";
    let run = run.args(["--axis", "cols=100000", "--exact", large]);
    let records = run.finish().expect_code(100).records();
    let result = records.result(large);
    assert_eq!(result["verdict"], "error");
    let message = result["message"].as_str().unwrap_or_default();
    assert!(
        message.contains("cannot allocate") && message.contains("File too large"),
        "{message}"
    );
}

#[test]
fn a_missing_compiler_is_an_error_with_a_hint() {
    let finished = run().json().env("CXX", "/no/such/compiler").finish().expect_code(96);
    the_error(&finished, &["C++ compiler", "/no/such/compiler", "CXX"]);
}

#[test]
fn without_a_compiler_standard_output_has_only_data() {
    let finished = run().json().env("CXX", "/no/such/compiler").finish();
    assert_eq!(finished.stdout, "");
}

#[test]
fn benchmarks_are_listed_without_a_compiler() {
    let finished = run()
        .args(["--list"])
        .env("CXX", "/no/such/compiler")
        .finish()
        .expect_code(0);
    assert_eq!(finished.stdout, format!("{CASE}\n"));
}

/// Returns a run that finds no driver, or the fake one of a folder.
fn with_driver(folder: &str, device: &str) -> Run {
    run().args(["--device", device]).env("LD_LIBRARY_PATH", folder)
}

/// Whether this machine has a real driver, which a fake one would hide.
fn has_driver() -> bool {
    std::path::Path::new("/dev/nvidiactl").exists()
}

#[test]
fn a_missing_device_is_an_error_with_its_name() {
    for device in ["cuda", "cuda:7"] {
        let finished = run()
            .args(["--device", device])
            .env("CUDA_VISIBLE_DEVICES", "")
            .finish()
            .expect_code(96);
        let error = the_error(&finished, &["hint"]);
        assert!(error.contains("GPU") || error.contains("CUDA"), "{error}");
        assert_eq!(finished.stdout, "");
    }
}

#[test]
fn without_a_driver_auto_uses_the_cpu_device_silently() {
    if has_driver() {
        eprintln!("this machine has a GPU: not tested");
        return;
    }
    let finished = run().args(["--device", "auto"]).finish().expect_code(0);
    assert!(!finished.stderr.contains("warning"), "{}", finished.stderr);
    assert!(finished.stdout.contains("CPU device"), "{}", finished.stdout);
}

/// A stub, as CUDA toolkits contain for linking: it has every function, and none works.
#[test]
fn an_unusable_driver_is_a_warning_for_auto_and_an_error_for_cuda() {
    if has_driver() {
        eprintln!("this machine has a GPU: not tested");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("stub.c");
    std::fs::write(&source, "int cuInit(unsigned flags) { return 34; }\n").expect("it is written");
    let made = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .args([&folder.path().join("libcuda.so.1"), &source])
        .status()
        .expect("a C compiler");
    assert!(made.success());
    let folder = folder.path().to_str().expect("UTF-8");
    let finished = with_driver(folder, "auto").finish().expect_code(0);
    assert!(
        finished.stderr.contains("warning: not using a GPU"),
        "{}",
        finished.stderr
    );
    let finished = with_driver(folder, "cuda").finish().expect_code(96);
    the_error(&finished, &["driver", "hint"]);
}

fn doctor(device: &str) -> std::process::Output {
    Command::new(gpubench_tests::tool())
        .args(["gpubench", "doctor", "--device", device, "--message-format", "json"])
        .current_dir("/")
        .output()
        .expect("it starts")
}

#[test]
fn the_doctor_says_of_each_device_whether_it_can_measure() {
    let last = |output: &std::process::Output| -> Value {
        let text = String::from_utf8_lossy(&output.stdout);
        serde_json::from_str(text.lines().last().expect("a line")).expect("JSON")
    };
    let on_cpu = doctor("cpu");
    assert_eq!(on_cpu.status.code(), Some(0));
    assert_eq!(last(&on_cpu)["measures_on"], "cpu");
    if !has_driver() {
        let on_gpu = doctor("cuda");
        assert_eq!(on_gpu.status.code(), Some(96));
        let record = last(&on_gpu);
        assert_eq!(
            (&record["measures_on"], &record["device"]),
            (&Value::Null, &Value::Null)
        );
        assert!(
            record["message"].as_str().is_some_and(|message| !message.is_empty()),
            "{record}"
        );
    }
}
