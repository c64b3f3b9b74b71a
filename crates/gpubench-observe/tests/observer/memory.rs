//! Allocations and frees of every kind.

use std::time::Duration;

use gpubench_observe::ledger::{Ledger, Limits};
use gpubench_observe::{Event, EventKind, HandleSpace, MemoryKind};

use crate::double::{Seen, Stubs, may_observe, program};

#[test]
fn each_kind_of_memory_is_recorded_with_its_bytes_and_its_free() {
    if !may_observe("each_kind_of_memory_is_recorded_with_its_bytes_and_its_free") {
        return;
    }
    for stubs in Stubs::ALL {
        let seen = Seen::from_command(program("dynamic", stubs, &["memory"]));
        let allocations = seen.allocations();
        let kinds: Vec<_> = allocations
            .iter()
            .map(|allocation| (allocation.kind, allocation.bytes))
            .collect();
        let expected = [
            (MemoryKind::Device, 1000),
            (MemoryKind::Device, 2000),
            (MemoryKind::StreamOrdered, 2000),
            (MemoryKind::Pool, 3000),
            (MemoryKind::Managed, 4000),
            (MemoryKind::Pinned, 5000),
            (MemoryKind::Pinned, 6000),
            (MemoryKind::Registered, 100),
            (MemoryKind::Physical, 7000),
            (MemoryKind::Array, 10 * 20 * 4 * 4),
            (MemoryKind::Array, 10 * 20 * 3 * 2),
        ];
        assert_eq!(kinds, expected, "{stubs:?}");
        let handles: Vec<_> = allocations.iter().map(|allocation| allocation.handle()).collect();
        assert_eq!(seen.frees(), handles, "{stubs:?}");
        assert_eq!((seen.lost, seen.entries("cuMemMap")), (0, 1));
    }
}

/// Returns the bytes that were freed and that were left, and the frees of unknown memory.
fn figures(what: &str, stubs: Stubs) -> (u64, u64, u64) {
    let seen = Seen::from_command(program("dynamic", stubs, &[what]));
    assert_eq!(seen.lost, 0);
    let mut ledger = Ledger::new(Limits::default());
    seen.events.into_iter().for_each(|event| ledger.apply(event));
    let all = ledger.all();
    (all.freed.total().bytes, all.left.total().bytes, all.unknown_frees)
}

#[test]
fn physical_memory_lives_while_it_is_mapped_although_its_handles_are_released() {
    if !may_observe("physical_memory_lives_while_it_is_mapped_although_its_handles_are_released") {
        return;
    }
    for stubs in Stubs::ALL {
        assert_eq!(figures("map", stubs), (0, 7000, 0));
        assert_eq!(figures("unmap", stubs), (7000, 0, 0));
    }
}

#[test]
fn memory_that_a_graph_allocates_is_no_allocation_of_the_program() {
    if !may_observe("memory_that_a_graph_allocates_is_no_allocation_of_the_program") {
        return;
    }
    for stubs in Stubs::ALL {
        assert_eq!(figures("allocate-in-graph", stubs), (0, 0, 0));
    }
}

#[test]
fn memory_ends_with_its_context() {
    if !may_observe("memory_ends_with_its_context") {
        return;
    }
    for stubs in Stubs::ALL {
        let seen = Seen::from_command(program("dynamic", stubs, &["contexts"]));
        let mut ledger = Ledger::new(Limits::default());
        seen.events.into_iter().for_each(|event| ledger.apply(event));
        let process = ledger.ended().latest().next().expect("a process");
        assert_eq!(process.peak_bytes, 1000 + 2000 + 4000);
        let left = &ledger.all().left;
        let left = [MemoryKind::Device, MemoryKind::Pinned, MemoryKind::Physical].map(|kind| left[kind].bytes);
        assert_eq!(left, [1635, 200, 2000]);
    }
}

#[test]
fn a_call_that_the_driver_makes_itself_is_not_counted_as_the_programs() {
    if !may_observe("a_call_that_the_driver_makes_itself_is_not_counted_as_the_programs") {
        return;
    }
    // `cuMemAllocPitch` calls `cuMemAlloc` through its slot.
    let seen = Seen::from_command(program("dynamic", Stubs::Call, &["memory"]));
    assert_eq!((seen.entries("cuMemAllocPitch"), seen.entries("cuMemAlloc")), (1, 1));
}

#[test]
fn a_free_from_another_thread_is_of_the_same_process() {
    if !may_observe("a_free_from_another_thread_is_of_the_same_process") {
        return;
    }
    let seen = Seen::from_command(program("dynamic", Stubs::Call, &["threads"]));
    let of = |wanted: fn(&EventKind) -> bool| {
        let found = seen.events.iter().find(|event| wanted(&event.kind));
        found.expect("it is recorded")
    };
    let allocated = of(|kind| matches!(kind, EventKind::Allocate(_)));
    let freed = of(|kind| matches!(kind, EventKind::Free(_)));
    assert_eq!(allocated.process, freed.process);
    assert_ne!(allocated.thread, freed.thread);
    let started = seen
        .kinds()
        .filter(|kind| matches!(kind, EventKind::Started(_)))
        .count();
    assert_eq!(started, 1, "threads are no processes");
    assert_eq!(seen.frees(), [seen.allocations()[0].handle()]);
}

#[test]
fn a_thread_that_frees_first_and_ends_does_no_harm() {
    if !may_observe("a_thread_that_frees_first_and_ends_does_no_harm") {
        return;
    }
    let seen = Seen::from_command(program("dynamic", Stubs::Call, &["free-first"]));
    assert_eq!(
        seen.frees().first().map(|free| (free.space, free.value)),
        Some((HandleSpace::Address, 0x0012_3400))
    );
    assert_eq!(seen.allocations().len(), 1);
}

#[test]
fn memory_that_a_process_leaves_is_told_before_its_end() {
    if !may_observe("memory_that_a_process_leaves_is_told_before_its_end") {
        return;
    }
    let seen = Seen::from_command(program("dynamic", Stubs::Call, &["allocate", "3"]));
    assert_eq!(seen.allocations().len(), 3);
    assert!(seen.frees().is_empty());
    assert_eq!(seen.kinds().last(), Some(&EventKind::Exited { status: Some(0) }));
}

#[test]
fn an_allocation_is_told_with_the_time_of_its_return_and_how_long_it_took() {
    if !may_observe("an_allocation_is_told_with_the_time_of_its_return_and_how_long_it_took") {
        return;
    }
    let seen = Seen::from_command(program("dynamic", Stubs::Call, &["slow"]));
    let launch = seen
        .events
        .iter()
        .find(|event| matches!(event.kind, EventKind::Launch(_)));
    let launch = launch.expect("a launch before it");
    let allocated = |event: &Event| match event.kind {
        EventKind::Allocate(allocation) => Some((event.at, allocation.duration)),
        _ => None,
    };
    let (at, duration) = seen.events.iter().find_map(allocated).expect("an allocation");
    assert!(duration >= Duration::from_millis(2), "{duration:?}");
    assert!(at.since(launch.at) >= duration, "{at:?} {duration:?} {launch:?}");
}
