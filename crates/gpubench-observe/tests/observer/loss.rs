//! Nothing is lost, or its number is known.

use std::collections::BTreeSet;

use gpubench_observe::{Event, EventKind, Observer, Source as _, Target};

use crate::double::{Seen, Stubs, driver_folder, may_observe, program};

#[test]
fn four_thousand_allocations_between_two_polls_are_all_recorded() {
    if !may_observe("four_thousand_allocations_between_two_polls_are_all_recorded") {
        return;
    }
    let seen = Seen::from_command(program("dynamic", Stubs::Call, &["allocate", "4000"]));
    let different: BTreeSet<_> = seen.allocations().iter().map(|allocation| allocation.value).collect();
    assert_eq!((different.len(), seen.lost), (4000, 0));
}

#[test]
fn after_more_threads_than_the_kernel_has_room_for_calls_are_still_recorded() {
    if !may_observe("after_more_threads_than_the_kernel_has_room_for_calls_are_still_recorded") {
        return;
    }
    let command = program("dynamic", Stubs::Call, &["many-threads", "17000"]);
    let mut observer = Observer::attach(Target::Command(command)).expect("it attaches");
    let seen = Seen::until(&mut observer, |event| matches!(event.kind, EventKind::Exited { .. }));
    let threads: BTreeSet<_> = seen
        .events
        .iter()
        .filter(|event| matches!(event.kind, EventKind::Allocate(_)))
        .map(|event| event.thread)
        .collect();
    assert_eq!((threads.len(), seen.lost), (17_000, 0));
}

#[test]
fn calls_without_room_for_their_events_are_counted_and_told() {
    if !may_observe("calls_without_room_for_their_events_are_counted_and_told") {
        return;
    }
    // 136 bytes each, and nobody polls: more than the ring has.
    const CALLS: u64 = 400_000;
    let seen = Seen::from_command(program("dynamic", Stubs::Call, &["launch", &CALLS.to_string()]));
    let total = &seen.totals["cuLaunchKernel"];
    assert_eq!(total.entries, CALLS);
    assert!(total.dropped > 0);
    assert_eq!(seen.launches().len() as u64 + total.dropped, CALLS);
    assert!(seen.lost >= total.dropped);
}

#[test]
fn a_process_whose_end_had_no_room_ends_all_the_same() {
    if !may_observe("a_process_whose_end_had_no_room_ends_all_the_same") {
        return;
    }
    // As above.
    let command = program("dynamic", Stubs::Call, &["launch", "400000"]);
    let mut observer = Observer::attach(Target::Command(command)).expect("it attaches");
    observer.child().expect("a child").wait().expect("it ends");
    let seen = Seen::until(&mut observer, |event| matches!(event.kind, EventKind::Exited { .. }));
    assert!(seen.lost > 0);
    let ends: Vec<_> = seen
        .kinds()
        .filter(|kind| matches!(kind, EventKind::Exited { .. }))
        .collect();
    assert_eq!(
        ends,
        [&EventKind::Exited { status: None }],
        "its own report had no room"
    );
    assert_eq!(seen.kinds().last(), Some(ends[0]));
}

#[test]
fn ten_thousand_names_are_told_without_rests_of_others() {
    if !may_observe("ten_thousand_names_are_told_without_rests_of_others") {
        return;
    }
    const NAMES: usize = 10_000;
    let command = program("dynamic", Stubs::Call, &["names", &NAMES.to_string()]);
    let mut observer = Observer::attach(Target::Command(command)).expect("it attaches");
    let seen = Seen::until(&mut observer, |event| matches!(event.kind, EventKind::Exited { .. }));
    let expected: Vec<String> = (0..NAMES)
        .map(|index| format!("{}{index}", "x".repeat(if index % 2 == 1 { 1 } else { 150 })))
        .collect();
    assert_eq!(observer.lost(), 0);
    assert_eq!(seen.launched_names(), expected);
}

#[test]
fn a_storm_of_short_processes_loses_nothing() {
    if !may_observe("a_storm_of_short_processes_loses_nothing") {
        return;
    }
    let inner = program("dynamic", Stubs::Call, &[]);
    let mut command = std::process::Command::new("sh");
    command.args(["-c", r#"for i in $(seq 200); do "$0" short & done; wait"#]);
    command.arg(inner.get_program());
    command.env("LD_LIBRARY_PATH", driver_folder(Stubs::Call));
    let mut observer = Observer::attach(Target::Command(command)).expect("it attaches");
    let shell = observer.child().expect("a child").id();
    let is_last = |event: &Event| event.process.pid == shell && matches!(event.kind, EventKind::Exited { .. });
    let seen = Seen::until(&mut observer, is_last);
    assert_eq!(
        (seen.launched_names(), seen.lost),
        (vec!["short_lived".to_owned(); 200], 0)
    );
}
