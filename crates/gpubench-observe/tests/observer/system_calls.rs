//! System calls of observed processes, and of no others.

use std::process::Stdio;

use gpubench_observe::{Observer, SystemCalls, Target, Users};

use crate::double::{Stubs, may_observe, program};

#[test]
fn system_calls_of_a_followed_process_are_recorded_by_name() {
    if !may_observe("system_calls_of_a_followed_process_are_recorded_by_name") {
        return;
    }
    let mut command = program("dynamic", Stubs::Call, &["wait"]);
    command.stdin(Stdio::piped());
    let mut observer = Observer::attach(Target::Command(command)).expect("it attaches");
    let mut calls = SystemCalls::new(&observer, Users::All).expect("it records");
    // Another process that is not followed.
    let other = std::process::Command::new("true").status();
    assert!(other.expect("it runs").success());
    let child = observer.child().expect("a child");
    let process = child.id();
    // The program waits for the end of its input.
    drop(child.stdin.take());
    child.wait().expect("it ends");
    let mut seen = Vec::new();
    calls.poll(&mut |call| seen.push(call));
    assert!(seen.iter().all(|call| call.process == process), "{seen:?}");
    assert!(seen.is_sorted_by_key(|call| call.at), "{seen:?}");
    let last = seen.last().expect("it calls");
    assert_eq!(
        (last.name().as_ref(), calls.lost().expect("a count")),
        ("exit_group", 0)
    );
}

/// A busy machine may not let the observer look for as long as the program needs to fill the ring.
#[test]
fn a_program_that_waits_without_sleeping_causes_no_loss_before_the_next_look() {
    if !may_observe("a_program_that_waits_without_sleeping_causes_no_loss_before_the_next_look") {
        return;
    }
    let mut command = program("dynamic", Stubs::Call, &["yield", "50000"]);
    command.stdin(Stdio::piped());
    let mut observer = Observer::attach(Target::Command(command)).expect("it attaches");
    let mut calls = SystemCalls::new(&observer, Users::All).expect("it records");
    let child = observer.child().expect("a child");
    drop(child.stdin.take());
    child.wait().expect("it ends");
    let mut names = Vec::new();
    calls.poll(&mut |call| names.push(call.name()));
    assert_eq!(calls.lost().expect("a count"), 0);
    assert!(!names.iter().any(|name| name == "sched_yield"));
    assert_eq!(names.last().map(AsRef::as_ref), Some("exit_group"), "{names:?}");
}
