//! Names of kernels.

use crate::double::{Seen, Stubs, may_observe, program};

#[test]
fn kernels_have_names_although_their_process_has_ended_before_the_first_poll() {
    if !may_observe("kernels_have_names_although_their_process_has_ended_before_the_first_poll") {
        return;
    }
    let seen = Seen::from_command(program("dynamic", Stubs::Call, &["short"]));
    assert_eq!(seen.launched_names(), ["short_lived"]);
}

#[test]
fn kernels_of_stripped_programs_without_relocation_have_names() {
    if !may_observe("kernels_of_stripped_programs_without_relocation_have_names") {
        return;
    }
    let seen = Seen::from_command(program("stripped", Stubs::Call, &["short"]));
    assert_eq!(seen.launched_names(), ["short_lived"]);
}

#[test]
fn programs_with_a_static_runtime_are_seen() {
    if !may_observe("programs_with_a_static_runtime_are_seen") {
        return;
    }
    for stubs in Stubs::ALL {
        let seen = Seen::from_command(program("static-runtime", stubs, &["launches"]));
        assert_eq!(
            seen.launched_names(),
            ["plain", "of_a_library", "of_a_library"],
            "{stubs:?}"
        );
    }
}

#[test]
fn a_name_in_memory_that_nobody_touched_yet_is_read() {
    if !may_observe("a_name_in_memory_that_nobody_touched_yet_is_read") {
        return;
    }
    let seen = Seen::from_command(program("dynamic", Stubs::Call, &["cold-name"]));
    assert_eq!(seen.launched_names(), ["cold_page_kernel"]);
}

#[test]
fn names_of_any_length_are_whole() {
    if !may_observe("names_of_any_length_are_whole") {
        return;
    }
    let seen = Seen::from_command(program("dynamic", Stubs::Call, &["long-name"]));
    assert_eq!(seen.launched_names(), [2999, 255, 254].map(|length| "y".repeat(length)));
}
