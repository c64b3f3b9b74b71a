//! Memory that calls of the driver hold, share, and free late.

use super::{Ledger, Limits};
use crate::testing::Script;
use crate::{ContextHandle, Event, EventKind, HandleSpace, MemoryHandle, MemoryKind, Timestamp};

const MAPPED: u64 = 0x5000_0000;

fn created() -> Script {
    Script::new(7, 1, "app").allocate_as(MemoryKind::Physical, 0x10, 64)
}

fn map(script: Script, memory: u64) -> Script {
    script.push(EventKind::Map {
        address: MAPPED,
        memory,
    })
}

fn unmap(script: Script) -> Script {
    script.push(EventKind::Unmap {
        address: MAPPED,
        bytes: 64,
    })
}

fn share(script: Script, handle: u64, address: Option<u64>) -> Script {
    script.push(EventKind::ShareHandle { handle, address })
}

fn release(script: Script, value: u64) -> Script {
    let space = HandleSpace::Physical;
    script.push(EventKind::Free(MemoryHandle { space, value }))
}

/// Returns the live and the freed bytes, and the frees of unknown memory.
fn figures(script: Script) -> [u64; 3] {
    let mut ledger = Ledger::new(Limits::default());
    script.events.into_iter().for_each(|event| ledger.apply(event));
    let live: u64 = ledger.live().map(|process| process.memory.bytes()).sum();
    [live, ledger.all().freed.total().bytes, ledger.all().unknown_frees]
}

#[test]
fn physical_memory_lives_until_it_is_neither_mapped_nor_held() {
    let mapped = release(map(created(), 0x10), 0x10);
    assert_eq!(
        figures(mapped.clone()),
        [64, 0, 0],
        "NVIDIA's samples release it when it is mapped"
    );
    assert_eq!(figures(unmap(mapped)), [0, 64, 0]);
    let unmapped = unmap(map(created(), 0x10));
    assert_eq!(figures(unmapped.clone()), [64, 0, 0]);
    assert_eq!(figures(release(unmapped, 0x10)), [0, 64, 0]);
}

#[test]
fn handles_of_mapped_memory_and_of_other_processes_are_released_as_often_as_they_are_got() {
    let retained = share(map(created(), 0x10), 0x10, Some(MAPPED + 8));
    let released = release(release(retained, 0x10), 0x10);
    assert_eq!(figures(released.clone()), [64, 0, 0]);
    assert_eq!(figures(unmap(released)), [0, 64, 0]);
    let renamed = share(release(map(created(), 0x10), 0x10), 0x20, Some(MAPPED));
    assert_eq!(figures(release(unmap(renamed), 0x20)), [0, 64, 0]);
    let imported = share(Script::new(7, 1, "app"), 0x30, None);
    let imported = release(unmap(map(imported, 0x30)), 0x30);
    assert_eq!(figures(imported.clone()), [0, 0, 0]);
    assert_eq!(figures(release(imported, 0x30)), [0, 0, 1]);
}

#[test]
fn a_handle_that_the_driver_gives_again_is_of_other_memory() {
    let again = release(map(created(), 0x10), 0x10).allocate_as(MemoryKind::Physical, 0x10, 100);
    assert_eq!(figures(again.clone()), [164, 0, 0]);
    assert_eq!(figures(release(again.clone(), 0x10)), [64, 100, 0]);
    assert_eq!(figures(unmap(again)), [100, 64, 0]);
}

#[test]
fn rows_of_mappings_and_handles_come_back() {
    let limits = Limits {
        allocations: 3,
        ..Limits::default()
    };
    let mut ledger = Ledger::new(limits);
    let mut play = |script: Script| script.events.into_iter().for_each(|event| ledger.apply(event));
    for pid in 1..50 {
        let script = Script::new(pid, u64::from(pid), "app").allocate_as(MemoryKind::Physical, 0x10, 64);
        let script = share(map(script, 0x10), 0x20, Some(MAPPED));
        // Every other process leaves all of it.
        play(match pid % 2 {
            0 => release(release(unmap(script), 0x10), 0x20).exit(0),
            _ => script.exit(0),
        });
    }
    assert_eq!(
        (ledger.all().untracked.total().count, ledger.all().unknown_frees),
        (0, 0)
    );
    assert_eq!(ledger.all().freed.total().count, 24);
}

#[test]
fn memory_in_a_graph_is_not_live_and_its_free_is_not_of_unknown_memory() {
    let script = Script::new(7, 1, "app").push(EventKind::AllocateInGraph { address: 0x70 });
    assert_eq!(figures(script.free(0x70).free(0x70)), [0, 0, 0]);
    assert_eq!(figures(Script::new(7, 1, "app").free(0x70)), [0, 0, 1]);
}

#[test]
fn frees_that_return_after_their_address_was_used_again_are_known() {
    let address = 0x10;
    let used_and_freed = |script: Script| script.free(address).allocate(address, 4).free(address);
    let again = |script: Script| script.allocate(address, 2);
    let first = Script::new(7, 1, "app").allocate(address, 1);
    // Other threads freed the first two, and their calls return last.
    let freed_late = |mut script: Script, allocations: &[usize]| {
        for place in allocations {
            let space = HandleSpace::Address;
            script.events.push(Event {
                at: Timestamp(script.events[*place].at.0 + 500),
                process: script.process,
                thread: 9,
                kind: EventKind::Free(MemoryHandle { space, value: address }),
            });
        }
        figures(script)
    };
    assert_eq!(freed_late(used_and_freed(again(first.clone())), &[1]), [0, 7, 0]);
    let twice = again(again(first)).free(address);
    assert_eq!(freed_late(twice.clone(), &[1, 2]), [0, 5, 0]);
    assert_eq!(freed_late(twice.clone(), &[2, 1]), [0, 5, 0]);
    assert_eq!(freed_late(twice, &[1, 2, 2]), [0, 5, 1], "a third was never allocated");
}

#[test]
fn allocations_are_listed_on_request_the_largest_first_and_kept_at_the_end_within_a_limit() {
    let limits = Limits {
        listed: 3,
        ..Limits::default()
    };
    let script = (0..100)
        .fold(Script::new(7, 1, "app"), |script, number| {
            script.allocate(0x1000 + number, number + 1)
        })
        .free(0x1000 + 99);
    let listed = |ledger: &Ledger| {
        let live = ledger.live().next().map(|process| process.memory.largest(3));
        let ended = ledger.ended().latest().next().and_then(|process| process.ended.clone());
        let all = live.or_else(|| Some(ended?.left.allocations)).expect("a process");
        all.iter().map(|held| (held.address, held.bytes)).collect::<Vec<_>>()
    };
    let wanted = [(Some(0x1062), 99), (Some(0x1061), 98), (Some(0x1060), 97)];
    for script in [script.clone(), script.exit(0)] {
        let mut ledger = Ledger::new(limits);
        script.events.into_iter().for_each(|event| ledger.apply(event));
        assert_eq!(listed(&ledger), wanted);
    }
}

#[test]
fn what_contexts_leave_is_listed_with_what_the_process_leaves() {
    let limits = Limits {
        listed: 2,
        ..Limits::default()
    };
    let script = Script::new(7, 1, "app")
        .in_context(1)
        .allocate(0x1000, 10)
        .allocate(0x2000, 30)
        .push(EventKind::ContextEnd {
            context: ContextHandle(1),
        })
        .in_context(2)
        .allocate(0x1000, 20)
        .exit(0);
    let mut ledger = Ledger::new(limits);
    script.events.into_iter().for_each(|event| ledger.apply(event));
    let ended = ledger.ended().latest().next().and_then(|process| process.ended.clone());
    let left = ended.expect("it ended").left.allocations;
    let told: Vec<_> = left.iter().map(|held| (held.address, held.bytes)).collect();
    assert_eq!(told, [(Some(0x2000), 30), (Some(0x1000), 20)]);
}

#[test]
fn physical_memory_is_listed_where_it_is_mapped() {
    let script = Script::new(7, 1, "app")
        .allocate_as(MemoryKind::Physical, 0x77, 64)
        .allocate_as(MemoryKind::Physical, 0x88, 32)
        .push(EventKind::Map {
            address: 0x9000,
            memory: 0x77,
        });
    let mut ledger = Ledger::new(Limits::default());
    script.events.into_iter().for_each(|event| ledger.apply(event));
    let largest = ledger.live().next().expect("a process").memory.largest(10);
    let told: Vec<_> = largest.iter().map(|held| (held.address, held.bytes)).collect();
    assert_eq!(told, [(Some(0x9000), 64), (None, 32)]);
}
