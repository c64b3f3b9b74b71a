//! Calls that fail.

use gpubench_observe::EventKind;

use crate::double::{Seen, Stubs, may_observe, program};

#[test]
fn failures_are_told_by_function_and_code_and_change_nothing_else() {
    if !may_observe("failures_are_told_by_function_and_code_and_change_nothing_else") {
        return;
    }
    for stubs in Stubs::ALL {
        let seen = Seen::from_command(program("dynamic", stubs, &["errors"]));
        let expected = [
            ("cuMemAlloc", 2),
            ("cuCtxSetLimit", 700),
            ("cuMemcpyHtoD", 1),
            ("cuModuleGetFunction", 500),
            ("cuLaunchKernel", 1),
        ];
        let expected = expected.map(|(call, code)| (call.to_owned(), code));
        assert_eq!(seen.failures(), expected, "{stubs:?}");
        let bytes: Vec<_> = seen.allocations().iter().map(|allocation| allocation.bytes).collect();
        assert_eq!(bytes, [50], "{stubs:?}");
        assert_eq!(seen.launched_names(), ["found"], "{stubs:?}");
        let errors: u64 = seen.totals.values().map(|total| total.errors).sum();
        assert_eq!(errors, 5, "{stubs:?}");
        assert_eq!(seen.entries("cuLaunchKernel"), 2);
    }
}

#[test]
fn calls_that_only_ask_are_not_observed_and_their_answers_are_no_errors() {
    if !may_observe("calls_that_only_ask_are_not_observed_and_their_answers_are_no_errors") {
        return;
    }
    for stubs in Stubs::ALL {
        let seen = Seen::from_command(program("dynamic", stubs, &["asks"]));
        let called: Vec<&str> = seen.totals.keys().map(String::as_str).collect();
        assert_eq!(called, ["cuInit", "cuLaunchKernel", "cuLibraryGetKernel"], "{stubs:?}");
        assert_eq!(seen.launched_names(), ["asked_for"], "{stubs:?}");
        assert_eq!(seen.failures(), [], "{stubs:?}");
    }
}

#[test]
fn a_copy_after_a_failed_one_is_recorded_as_its_own() {
    if !may_observe("a_copy_after_a_failed_one_is_recorded_as_its_own") {
        return;
    }
    let seen = Seen::from_command(program("dynamic", Stubs::Jump, &["errors"]));
    let copies = seen.kinds().filter_map(|kind| match kind {
        EventKind::Copy(copy) => Some((copy.destination, copy.bytes)),
        _ => None,
    });
    assert_eq!(copies.collect::<Vec<_>>(), [(0x1000, 6)]);
}

#[test]
fn a_thread_that_dies_in_a_call_leaves_nothing_for_later_ones() {
    if !may_observe("a_thread_that_dies_in_a_call_leaves_nothing_for_later_ones") {
        return;
    }
    let seen = Seen::from_command(program("dynamic", Stubs::Call, &["die-in-thread"]));
    let bytes: Vec<_> = seen.allocations().iter().map(|allocation| allocation.bytes).collect();
    assert_eq!(bytes, [42]);
    let total = &seen.totals["cuMemAlloc"];
    assert_eq!((total.entries, total.returns, total.errors), (2, 1, 0));
}

#[test]
fn a_process_killed_in_a_call_ends_with_its_status() {
    if !may_observe("a_process_killed_in_a_call_ends_with_its_status") {
        return;
    }
    let seen = Seen::from_command(program("dynamic", Stubs::Call, &["die-in-call"]));
    assert!(seen.allocations().is_empty());
    assert_eq!(seen.kinds().last(), Some(&EventKind::Exited { status: Some(9) }));
}
