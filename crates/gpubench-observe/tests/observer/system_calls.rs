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
