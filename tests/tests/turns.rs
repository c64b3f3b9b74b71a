//! Two runs on one device: the second waits for the first, and both say for whom.
#![forbid(unsafe_code)]

use std::time::Duration;

use gpubench_tests::{Fixture, Role, Run, wait_until};
use rustix::process::Signal;

const HONEST: [&str; 2] = ["--exact", "answers::honest::n=600"];

#[test]
fn a_second_run_on_a_device_waits_for_the_first_unless_it_is_told_not_to() {
    let meeting = tempfile::tempdir().expect("a folder");
    let meeting = meeting.path().to_str().expect("UTF-8");
    let run = |run: Run| run.briefly().json().env("XDG_RUNTIME_DIR", meeting);
    let fixture = Fixture::of("hostile");
    let hanging = ["--exact", "faults::loops_forever::n=600", "--timeout", "10min"];
    let first = run(Run::on(&fixture)).args(hanging).start();
    first.wait_for_role(Role::Worker);

    let beside = run(Run::on(&fixture)).args(HONEST).args(["--no-wait"]).finish();
    let beside = beside.expect_code(0);
    assert!(
        beside.stderr.contains("warning: process ") && beside.stderr.contains("each run disturbs the other's times"),
        "{}",
        beside.stderr
    );
    let _ = run(Run::on(&fixture))
        .args(HONEST)
        .args(["--test"])
        .finish()
        .expect_code(0);

    let said = format!("{meeting}/said");
    let second = run(Run::after(&format!("exec 2>'{said}'"), &fixture))
        .args(HONEST)
        .start();
    wait_until("a word of who is waited for", Duration::from_secs(300), || {
        let said = std::fs::read_to_string(&said).unwrap_or_default();
        said.contains("Blocking waiting for another run on").then_some(())
    });
    first.signal(Signal::INT);
    let _ = first.finish().expect_code(130);
    second.finish().expect_code(0).records().result("answers::honest");
    let said = std::fs::read_to_string(&said).expect("it is there");
    assert!(said.contains(") has `") && said.contains(".lock`"), "{said}");
}

/// The process that measures waits for the one that it started: nobody would ever go on.
#[test]
fn a_run_that_another_run_started_does_not_wait_for_it() {
    let meeting = tempfile::tempdir().expect("a folder");
    let run = || {
        let run = Run::on(&Fixture::of("hostile")).briefly().json().args(HONEST);
        run.env("XDG_RUNTIME_DIR", meeting.path().to_str().expect("UTF-8"))
    };
    let quiet = run().finish().expect_code(0);
    assert!(!quiet.stderr.contains("disturbed"), "{}", quiet.stderr);
    let folder = meeting.path().join("gpubench");
    let mut locks = std::fs::read_dir(folder).expect("a folder");
    let lock = locks.next().expect("a lock").expect("readable").path();
    let held = std::fs::File::open(lock).expect("it is there");
    held.lock().expect("nobody has it");
    let nested = run().finish().expect_code(0);
    assert!(
        nested.stderr.contains("which started this run, measures on"),
        "{}",
        nested.stderr
    );
}
