//! Sandboxing of user code: what it can do in the processes of a run, and to the run's terminal.
#![forbid(unsafe_code)]

use gpubench_tests::{Fixture, Terminal};

/// Runs all cases of the crate on a new terminal, as a shell would start the tool.
fn run_in_a_terminal(options: &[&str]) -> (Option<i32>, String) {
    let fixture = Fixture::new("reaching");
    let given = ["--color", "never", "--device", "cpu", "--test"];
    let (terminal, mut child) = Terminal::running(160, &fixture, &[&given, options].concat());
    let code = child.wait().expect("it ends").code();
    (code, terminal.text())
}

#[test]
fn no_role_can_reach_the_terminal_or_the_system() {
    let (code, shown) = run_in_a_terminal(&[]);
    assert_eq!(code, Some(0), "{shown}");
    assert!(!shown.contains("TYPED") && shown.contains("6 passed"), "{shown}");
}

/// Printed text does not reach the terminal unchanged.
#[test]
fn role_output_is_printed_by_the_broker_with_a_prefix() {
    let (code, shown) = run_in_a_terminal(&["--no-capture"]);
    assert_eq!(code, Some(0), "{shown}");
    assert!(!shown.contains("TYPED"), "{shown}");
}
