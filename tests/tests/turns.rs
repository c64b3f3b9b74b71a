//! Two runs on one device: the second waits for the first, and both name each other.
#![forbid(unsafe_code)]

use std::time::Duration;

use gpubench_tests::{Fixture, Role, Run, wait_until};
use rustix::process::Signal;

const HONEST: [&str; 2] = ["--exact", "answers::honest::n=600"];

#[test]
fn a_second_run_on_a_device_waits_for_the_first_without_no_wait() {
    let runtime_folder = tempfile::tempdir().expect("a folder");
    let runtime_folder = runtime_folder.path().to_str().expect("UTF-8");
    let run = |run: Run| run.briefly().json().env("XDG_RUNTIME_DIR", runtime_folder);
    let fixture = Fixture::new("hostile");
    let hanging = ["--exact", "faults::loops_forever::n=600", "--timeout", "10min"];
    let first = run(Run::on(&fixture)).args(hanging).start();
    first.wait_for_role(Role::Worker);

    let second = run(Run::on(&fixture)).args(HONEST).args(["--no-wait"]).finish();
    let second = second.expect_code(0);
    assert!(
        second.stderr.contains("warning: process ") && second.stderr.contains("each run disturbs the other's times"),
        "{}",
        second.stderr
    );
    let _ = run(Run::on(&fixture))
        .args(HONEST)
        .args(["--test"])
        .finish()
        .expect_code(0);

    let stderr = format!("{runtime_folder}/stderr");
    let second = run(Run::after(&format!("exec 2>'{stderr}'"), &fixture))
        .args(HONEST)
        .start();
    wait_until("the message about the other run", Duration::from_secs(300), || {
        let stderr = std::fs::read_to_string(&stderr).unwrap_or_default();
        stderr.contains("Blocking waiting for another run on").then_some(())
    });
    first.signal(Signal::INT);
    let _ = first.finish().expect_code(130);
    second.finish().expect_code(0).records().result("answers::honest");
    let stderr = std::fs::read_to_string(&stderr).expect("it is there");
    assert!(stderr.contains(") holds `") && stderr.contains(".lock`"), "{stderr}");
}

/// The outer process waits for the run that it started, so waiting for it would be a deadlock.
#[test]
fn a_nested_run_does_not_wait_for_its_parent() {
    let runtime_folder = tempfile::tempdir().expect("a folder");
    let run = || {
        let run = Run::on(&Fixture::new("hostile")).briefly().json().args(HONEST);
        run.env("XDG_RUNTIME_DIR", runtime_folder.path().to_str().expect("UTF-8"))
    };
    let quiet = run().finish().expect_code(0);
    assert!(!quiet.stderr.contains("disturbs"), "{}", quiet.stderr);
    let folder = runtime_folder.path().join("gpubench");
    let mut locks = std::fs::read_dir(folder).expect("a folder");
    let lock = locks.next().expect("a lock").expect("readable").path();
    let held = std::fs::File::open(lock).expect("it is there");
    held.lock().expect("the lock is free");
    let nested = run().finish().expect_code(0);
    assert!(
        nested.stderr.contains("which started this run, also measures on"),
        "{}",
        nested.stderr
    );
}
