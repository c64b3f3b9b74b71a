//! Launches that the kernel counts.

use std::collections::BTreeMap;

use gpubench_observe::ledger::{Ledger, Limits};
use gpubench_observe::{Attachment, EventKind, Launches};

use crate::double::{Seen, Stubs, may_observe, program};

fn counted(words: &[&str]) -> Seen {
    let command = program("dynamic", Stubs::Call, words);
    Seen::with(command, Attachment::AtOnce, Launches::Counted)
}

/// What was launched, without handles and addresses, which differ.
#[derive(Debug, PartialEq, Eq)]
struct Summary {
    kernels: BTreeMap<Option<String>, (u64, u64)>,
    launches: [u64; 3],
    captured: u64,
    failures: u64,
}

impl Summary {
    fn new(seen: Seen) -> Summary {
        let mut ledger = Ledger::new(Limits::default());
        seen.events.into_iter().for_each(|event| ledger.apply(event));
        let kernels = ledger.kernels().map(|(key, count)| {
            let name = ledger.names().name(key).map(|name| name.mangled.to_string());
            (name, (count.launches, count.captured))
        });
        Summary {
            kernels: kernels.collect(),
            launches: ledger.all().launches,
            captured: ledger.all().captured_launches,
            failures: ledger.all().failures,
        }
    }

    fn of_kernel(&self, name: &str) -> (u64, u64) {
        self.kernels[&Some(name.to_owned())]
    }
}

#[test]
fn counted_launches_are_the_same_as_single_ones() {
    if !may_observe("counted_launches_are_the_same_as_single_ones") {
        return;
    }
    let programs: [&[&str]; 9] = [
        &["reuse"],
        &["launches"],
        &["capture"],
        &["errors"],
        &["failing-launches"],
        &["threads"],
        &["fork"],
        &["reload", "21"],
        &["names", "300"],
    ];
    for words in programs {
        let single = Summary::new(Seen::from_command(program("dynamic", Stubs::Call, words)));
        assert_eq!(Summary::new(counted(words)), single, "{words:?}");
    }
}

#[test]
fn a_forked_child_launches_its_parents_kernel() {
    if !may_observe("a_forked_child_launches_its_parents_kernel") {
        return;
    }
    let summary = Summary::new(counted(&["fork"]));
    assert_eq!(summary.of_kernel("of_the_parent"), (3, 0));
}

#[test]
fn no_counted_launch_is_lost_although_nobody_reads() {
    if !may_observe("no_counted_launch_is_lost_although_nobody_reads") {
        return;
    }
    let seen = counted(&["launch", "400000"]);
    assert_eq!(seen.lost, 0);
    assert_eq!(Summary::new(seen).of_kernel("looped"), (400_000, 0));
}

#[test]
fn launches_until_a_kill_are_all_counted() {
    if !may_observe("launches_until_a_kill_are_all_counted") {
        return;
    }
    let seen = counted(&["die-while-launching"]);
    assert_eq!(seen.lost, 0);
    let entries = seen.entries("cuLaunchKernel");
    let killed = |kind: &EventKind| *kind == EventKind::Exited { status: Some(9) };
    assert_eq!(seen.kinds().filter(|kind| killed(kind)).count(), 1);
    assert_eq!(Summary::new(seen).of_kernel("endless"), (entries, 0));
}
