use super::*;
use crate::testing::Script;
use crate::{
    ContextHandle, Copy, CopyDirection, Event, EventKind, Execution, FunctionHandle, GraphHandle, HandleSpace,
    LaunchKind, MemoryHandle, MemoryKind, ModuleHandle, Set, StreamHandle, Synchronization, Waiting,
};
use std::time::Duration;

fn ledger_of(scripts: impl IntoIterator<Item = Script>) -> Ledger {
    limited(Limits::default(), scripts)
}

/// Adds the events of all scripts in the order of time.
fn limited(limits: Limits, scripts: impl IntoIterator<Item = Script>) -> Ledger {
    let mut events: Vec<Event> = scripts.into_iter().flat_map(|script| script.events).collect();
    events.sort_by_key(|event| event.at);
    let mut ledger = Ledger::new(limits);
    events.into_iter().for_each(|event| ledger.apply(event));
    ledger
}

fn named_launches(ledger: &Ledger) -> Vec<(String, u64)> {
    let mut rows: Vec<_> = ledger
        .kernels()
        .map(|(key, count)| {
            let name = ledger.names().name(key);
            let name = name.map_or_else(|| format!("{key:?}"), |name| name.demangled.to_string());
            (name, count.launches)
        })
        .collect();
    rows.sort();
    rows
}

fn only_live(ledger: &Ledger) -> &Process {
    let mut live = ledger.live();
    let process = live.next().expect("a process");
    assert!(live.next().is_none(), "there are several");
    process
}

#[test]
fn a_kernel_keeps_its_name_after_its_process_is_gone() {
    let ledger = ledger_of([Script::new(7, 1, "short")
        .name(0xf, "_Z4axpyPf")
        .launch(0xf)
        .launch(0xf)
        .exit(0)]);
    assert_eq!(named_launches(&ledger), [("axpy(float*)".to_owned(), 2)]);
    let ended: Vec<_> = ledger.ended().latest().collect();
    assert_eq!(ended.len(), 1);
    assert_eq!(ended[0].kernels().len(), 1);
}

#[test]
fn a_forked_child_launches_the_kernels_of_its_parents_by_name() {
    let parent = Script::new(7, 1, "app").name(0xf, "old").after_ms(1);
    let child = parent.fork(8);
    let grandchild = child.fork(9).launch(0xf).launch(0xe);
    let child = child.after_ms(1).name(0xf, "new").launch(0xf);
    let ledger = ledger_of([parent.after_ms(5).launch(0xf), child, grandchild]);
    assert_eq!(named_launches(&ledger), [("new".to_owned(), 1), ("old".to_owned(), 2)]);
    assert_eq!(ledger.unnamed().launches, 1);
}

#[test]
fn memory_of_a_context_is_left_when_it_ends() {
    let script = Script::new(7, 1, "app").in_context(1).allocate(0x10, 100);
    let script = script.allocate_as(MemoryKind::Pool, 0x20, 20);
    let script = script.in_context(2).allocate(0x30, 3);
    let context = ContextHandle(1);
    let script = script.push(EventKind::ContextEnd { context });
    let script = script.free(0x10);
    let ended = ledger_of([script.clone().exit(0)]);
    let left = ended.ended().latest().next().and_then(|process| process.ended.clone());
    let left: Vec<_> = left
        .expect("it ended")
        .left
        .groups
        .iter()
        .map(|group| group.bytes)
        .collect();
    assert_eq!(left, [100, 20, 3]);
    let ledger = ledger_of([script]);
    assert_eq!(only_live(&ledger).memory.bytes(), 23);
    assert_eq!(ledger.all().left[MemoryKind::Device].bytes, 100);
    assert_eq!(ledger.all().unknown_frees, 1);
}

#[test]
fn launches_before_the_name_is_known_get_it_later() {
    let script = Script::new(7, 1, "app").launch(0xf).launch(0xf);
    let before = ledger_of([script.clone()]);
    assert_eq!(before.unnamed().launches, 2);
    assert!(named_launches(&before).is_empty());
    let after = ledger_of([script.name(0xf, "late").launch(0xf)]);
    assert_eq!(after.unnamed().launches, 0);
    assert_eq!(named_launches(&after), [("late".to_owned(), 3)]);
}

#[test]
fn launches_whose_name_never_comes_are_unnamed_at_the_end() {
    let ledger = ledger_of([Script::new(7, 1, "app").launch(0xf).exit(0)]);
    assert_eq!(named_launches(&ledger), [("Unnamed".to_owned(), 1)]);
    assert_eq!(ledger.unnamed().launches, 0);
}

#[test]
fn threads_of_a_process_are_one_process_and_a_free_from_another_thread_frees() {
    let ledger = ledger_of([Script::new(7711, 1, "app")
        .in_thread(7712)
        .allocate(0x1000, 64)
        .in_thread(7713)
        .allocate(0x2000, 32)
        .in_thread(7714)
        .free(0x1000)]);
    let process = only_live(&ledger);
    assert_eq!(process.memory.totals().total().bytes, 32);
    assert_eq!(process.activity.unknown_frees, 0);
    assert_eq!(process.memory.groups()[0].thread, 7713);
}

#[test]
fn four_thousand_allocations_between_two_looks_are_all_there() {
    let script = (0..4000).fold(Script::new(7, 1, "app"), |script, n| {
        script.allocate(0x1000 + n * 64, 64)
    });
    let ledger = ledger_of([script]);
    assert_eq!(only_live(&ledger).memory.totals()[MemoryKind::Device].count, 4000);
}

#[test]
fn a_process_of_more_than_a_thousand_threads_is_seen_to_the_last() {
    let script = (0..1203).fold(Script::new(7, 1, "app"), |script, n| {
        script.in_thread(8000 + n).allocate(0x1000 + u64::from(n) * 64, 64)
    });
    let ledger = ledger_of([script]);
    let groups = only_live(&ledger).memory.groups();
    assert_eq!(groups.len(), 1203);
}

#[test]
fn a_thread_whose_first_call_is_a_free_stops_nothing() {
    let unknown = Script::unseen(7, 1).in_thread(9).free(0xdead).exit(0);
    let next = Script::new(8, 2, "next").allocate(0x1000, 64);
    let ledger = ledger_of([unknown, next]);
    assert_eq!(ledger.all().unknown_frees, 1);
    assert_eq!(only_live(&ledger).memory.totals().total().count, 1);
}

#[test]
fn what_a_process_leaves_at_its_end_is_told_after_it() {
    let ledger = ledger_of([Script::new(7, 1, "leaky")
        .allocate(0x1000, 1 << 20)
        .in_thread(8)
        .allocate(0x900000, 1 << 20)
        .allocate(0xa00000, 1 << 20)
        .free(0x1000)
        .exit(0)]);
    let leaky = ledger.ended().latest().next().expect("a process");
    assert_eq!(
        leaky.activity.left.total(),
        Amount {
            count: 2,
            bytes: 2 << 20
        }
    );
    let left = &leaky.ended.as_ref().expect("an end").left;
    assert_eq!(
        (left.groups[0].count, left.groups[0].thread, left.groups[0].bytes),
        (2, 8, 1 << 20)
    );
    assert_eq!(ledger.all().left.total().count, 2);
}

#[test]
fn freeing_null_makes_no_row_and_is_no_error() {
    let ledger = ledger_of([Script::new(7, 1, "app").allocate(0x1000, 64).free(0).free(0)]);
    let process = only_live(&ledger);
    assert_eq!(process.memory.groups().len(), 1);
    assert_eq!((process.activity.null_frees, process.activity.unknown_frees), (2, 0));
    assert_eq!(process.activity.failures, 0);
}

#[test]
fn a_failed_call_is_counted_by_call_and_code_and_changes_nothing_else() {
    let script = Script::new(7, 1, "app").allocate(0x1000, 64);
    let before = ledger_of([script.clone()]).all().clone();
    let ledger = ledger_of([script
        .fail("cuMemAlloc", 2)
        .fail("cuMemAlloc", 2)
        .fail("cuMemFree", 1)
        .fail("cuMemcpyHtoD", 700)
        .fail("cuMemcpyHtoD", 719)]);
    let after = Activity {
        failures: 0,
        ..ledger.all().clone()
    };
    assert_eq!(after, before);
    let errors: Vec<_> = ledger
        .errors()
        .iter()
        .map(|(key, count)| (&*key.call.0, key.code, count))
        .collect();
    let wanted = [
        ("cuMemAlloc", 2, 2),
        ("cuMemFree", 1, 1),
        ("cuMemcpyHtoD", 700, 1),
        ("cuMemcpyHtoD", 719, 1),
    ];
    assert_eq!(errors, wanted);
}

#[test]
fn copies_are_counted_in_their_own_direction() {
    for direction in CopyDirection::ALL {
        let ledger = ledger_of([Script::new(7, 1, "app").copy(direction, 1_000_000, Duration::from_micros(100))]);
        for other in CopyDirection::ALL {
            let total = ledger.all().copies_of(other);
            assert_eq!(
                total.all.count,
                u64::from(other == direction),
                "{direction:?} {other:?}"
            );
        }
        assert_eq!(ledger.all().copies_of(direction).bandwidth(), Some(1e10));
    }
}

#[test]
fn a_copy_without_a_direction_has_that_of_its_addresses() {
    let script = Script::new(7, 1, "app")
        .allocate(0x1000, 256)
        .allocate_as(MemoryKind::Pinned, 0x9000, 256);
    let directions = [
        ((0x1010, 0x1020), CopyDirection::DeviceToDevice),
        ((0x1010, 0x9000), CopyDirection::DeviceToHost),
        ((0x7fff_0000, 0x10ff), CopyDirection::HostToDevice),
        ((0x7fff_0000, 0x9001), CopyDirection::HostToHost),
        ((0x7fff_0000, 0x1100), CopyDirection::ByAddress),
    ];
    for (addresses, wanted) in directions {
        let script = script.clone();
        let script = script.copy_between(CopyDirection::ByAddress, addresses, 1, Duration::ZERO);
        assert_eq!(ledger_of([script]).all().copies_of(wanted).all.count, 1, "{wanted:?}");
    }
}

#[test]
fn a_new_process_with_an_old_pid_has_nothing_of_it() {
    let ledger = ledger_of([
        Script::new(7, 1, "first")
            .name(0xf, "old")
            .allocate(0x1000, 64)
            .launch(0xf)
            .exit(0),
        Script::new(7, 2, "second").launch(0xf).free(0x1000),
    ]);
    let second = only_live(&ledger);
    assert_eq!(second.program(), Some("second"));
    assert_eq!(second.activity.unknown_frees, 1);
    assert_eq!(second.kernels()[0].0, KernelKey::Unnamed);
    assert_eq!(ledger.all().left.total().count, 1);
}

#[test]
fn a_process_whose_end_was_lost_ends_when_its_pid_is_another_ones() {
    let ledger = ledger_of([
        Script::new(7, 1, "first").allocate(0x1000, 64),
        Script::new(7, 2, "second").allocate(0x1000, 32),
    ]);
    assert_eq!(only_live(&ledger).memory.totals().total().bytes, 32);
    assert_eq!(ledger.all().left.total().bytes, 64);
    assert_eq!(ledger.all().vanished.total().count, 0);
}

#[test]
fn the_program_after_an_exec_has_nothing_of_the_one_before() {
    let first = Script::new(7, 1, "sh").allocate(0x1000, 64);
    let mut second = Script::unseen(7, 2);
    second = second.push(EventKind::Started(crate::ProcessStart {
        origin: crate::Origin::Exec {
            before: Some(first.process),
        },
        executable: Some("/bin/tool".into()),
        command: vec![],
        owner: crate::Owner::default(),
    }));
    let ledger = ledger_of([first, second.launch(0xf)]);
    assert_eq!(only_live(&ledger).program(), Some("tool"));
    assert_eq!(ledger.ended().latest().next().and_then(Process::program), Some("sh"));
}

#[test]
fn a_free_that_began_before_the_address_was_allocated_again_frees_the_earlier_one() {
    let script = Script::new(7, 1, "app").allocate(0x1000, 64);
    let mut freed = script.clone().free(0x1000).events.pop().expect("a free");
    let again = script.after_ms(1).allocate(0x1000, 32);
    freed.at.0 -= 500;
    let mut ledger = Ledger::new(Limits::default());
    again
        .events
        .into_iter()
        .chain([freed])
        .for_each(|event| ledger.apply(event));
    assert_eq!(only_live(&ledger).memory.totals().total().bytes, 32);
    assert_eq!(ledger.all().freed.total().bytes, 64);
    assert_eq!(ledger.all().vanished.total().count, 0);
}

#[test]
fn handles_of_different_spaces_with_the_same_value_are_different_memory() {
    let ledger = ledger_of([Script::new(7, 1, "app")
        .allocate_as(MemoryKind::Physical, 0x1000, 1)
        .allocate_as(MemoryKind::Array, 0x1000, 2)
        .allocate_as(MemoryKind::Registered, 0x1000, 4)
        .allocate_as(MemoryKind::Managed, 0x1000, 8)
        .free(0x1000)]);
    assert_eq!(only_live(&ledger).memory.totals().total().bytes, 7);
    assert_eq!(ledger.all().freed[MemoryKind::Managed].bytes, 8);
}

#[test]
fn captured_launches_are_counted_apart_and_all_kinds_are_launches() {
    let ledger = ledger_of([Script::new(7, 1, "app")
        .name(0xf, "k")
        .launch(0xf)
        .launch_as(0xf, LaunchKind::Extended, Execution::Runs)
        .launch_as(0xf, LaunchKind::Cooperative, Execution::Runs)
        .launch_as(0xf, LaunchKind::Plain, Execution::Captured)]);
    assert_eq!(ledger.all().launches, [1, 1, 1]);
    assert_eq!(ledger.all().captured_launches, 1);
    let (_, count) = only_live(&ledger).kernels()[0];
    assert_eq!((count.launches, count.captured), (3, 1));
}

#[test]
fn an_alias_is_the_same_kernel_whatever_comes_first() {
    let alias = |script: Script| {
        script.push(EventKind::Alias {
            function: FunctionHandle(0xa),
            of: FunctionHandle(0xf),
        })
    };
    let named_first = alias(Script::new(7, 1, "app").name(0xf, "k")).launch(0xa).launch(0xf);
    let alias_first = alias(Script::new(7, 1, "app").launch(0xa)).launch(0xa).name(0xf, "k");
    for script in [named_first, alias_first] {
        assert_eq!(named_launches(&ledger_of([script])), [("k".to_owned(), 2)]);
    }
}

#[test]
fn a_handle_of_an_unloaded_module_is_free_for_another_kernel() {
    let named = |script: Script, name: &str| {
        script.push(EventKind::Name {
            function: FunctionHandle(0xf),
            name: name.into(),
            module: Some(ModuleHandle(1)),
        })
    };
    let unload = EventKind::ModuleUnload {
        module: ModuleHandle(1),
    };
    let script = named(Script::new(7, 1, "jit"), "a")
        .launch(0xf)
        .push(unload)
        .launch(0xf);
    let ledger = ledger_of([named(script, "b")]);
    assert_eq!(named_launches(&ledger), [("a".to_owned(), 1), ("b".to_owned(), 1)]);
}

#[test]
fn what_exceeds_a_limit_is_still_in_the_sums() {
    let limits = Limits {
        processes: 2,
        ended: 1,
        allocations: 2,
        listed: 1,
        functions: 2,
        names: 1,
        kernels: 1,
        errors: 1,
        programs: 1,
        kernels_of_programs: 1,
    };
    let script = |pid: u32| {
        (0..4).fold(Script::new(pid, u64::from(pid), &format!("p{pid}")), |script, n| {
            script
                .allocate(0x1000 + n, 10)
                .name(n + 1, &format!("k{n}"))
                .launch(n + 1)
                .fail("cuMemAlloc", 1 + u32::try_from(n).expect("a small number"))
        })
    };
    let ledger = limited(limits, (1..=4).map(script));
    let all = ledger.all();
    assert_eq!(all.allocated.total(), Amount { count: 16, bytes: 160 });
    assert_eq!(all.untracked.total().count, 14);
    assert_eq!(all.kernel_launches(), 16);
    assert_eq!(ledger.kernels().map(|(_, count)| count.launches).sum::<u64>(), 16);
    assert_eq!(
        ledger.errors().iter().map(|(_, count)| count).sum::<u64>() + ledger.errors().other(),
        16
    );
    assert_eq!(ledger.started(), 4);
    assert_eq!(ledger.others().activity.kernel_launches(), 8);
    let programs: Vec<_> = ledger
        .programs()
        .iter()
        .map(|(_, program)| program.name.as_str())
        .collect();
    assert_eq!(programs, ["p1", "other"]);
    let ended = limited(limits, (1..=4).map(|pid| script(pid).exit(0)));
    assert_eq!(ended.ended().latest().count() as u64 + ended.ended().earlier(), 4);
    let earlier = ended.ended().earlier_activity().kernel_launches();
    assert_eq!(
        earlier
            + ended
                .ended()
                .latest()
                .map(|one| one.activity.kernel_launches())
                .sum::<u64>(),
        16
    );
}

/// A copy of 100 bytes that took 5 ns.
fn copy(waiting: Waiting, execution: Execution) -> EventKind {
    EventKind::Copy(Copy {
        direction: CopyDirection::DeviceToHost,
        bytes: 100,
        destination: 0,
        source: 0,
        stream: StreamHandle(0),
        waiting,
        execution,
        duration: Duration::from_nanos(5),
    })
}

#[test]
fn each_event_is_in_its_own_sum_of_its_process_its_program_and_all() {
    let set = |execution| {
        EventKind::Set(Set {
            bytes: 100,
            stream: StreamHandle(0),
            execution,
        })
    };
    let wait = |what| EventKind::Synchronize {
        what,
        duration: Duration::from_nanos(5),
    };
    let free = |value| {
        EventKind::Free(MemoryHandle {
            space: HandleSpace::Address,
            value,
        })
    };
    let (stream, function) = (StreamHandle(1), FunctionHandle(0xf));
    type Sums = fn(&mut Activity);
    let wanted: [(EventKind, Sums); 19] = [
        (
            EventKind::GraphLaunch {
                graph: GraphHandle(1),
                stream,
            },
            |sums| sums.graph_launches = 1,
        ),
        (EventKind::HostFunction { stream }, |sums| sums.host_functions = 1),
        (EventKind::RecordEvent { stream }, |_| {}),
        (set(Execution::Runs), |sums| {
            sums.memsets = Amount { count: 1, bytes: 100 }
        }),
        (set(Execution::Captured), |sums| sums.captured_sets = 1),
        (EventKind::StreamCreate { stream }, |sums| sums.streams_created = 1),
        (EventKind::StreamDestroy { stream }, |sums| sums.streams_destroyed = 1),
        (
            EventKind::ModuleLoad {
                module: ModuleHandle(1),
            },
            |sums| sums.modules_loaded = 1,
        ),
        (
            EventKind::ModuleUnload {
                module: ModuleHandle(1),
            },
            |sums| sums.modules_unloaded = 1,
        ),
        (wait(Synchronization::Context), |sums| {
            sums.waits[0].add(Duration::from_nanos(5))
        }),
        (wait(Synchronization::Stream(stream)), |sums| {
            sums.waits[1].add(Duration::from_nanos(5))
        }),
        (wait(Synchronization::Event), |sums| {
            sums.waits[2].add(Duration::from_nanos(5))
        }),
        (copy(Waiting::Blocks, Execution::Runs), |sums| {
            sums.copies[1] = CopyTotal {
                all: Amount { count: 1, bytes: 100 },
                waited_bytes: 100,
                waited: Duration::from_nanos(5),
            }
        }),
        (copy(Waiting::Queues, Execution::Runs), |sums| {
            sums.copies[1].all = Amount { count: 1, bytes: 100 }
        }),
        (copy(Waiting::Blocks, Execution::Captured), |sums| {
            sums.captured_copies = 1
        }),
        (free(0), |sums| sums.null_frees = 1),
        (free(7), |sums| sums.unknown_frees = 1),
        (
            EventKind::Launches {
                function,
                kind: LaunchKind::Extended,
                count: 3,
            },
            |sums| sums.launches[1] = 3,
        ),
        (
            EventKind::Failed {
                call: crate::DriverCall("cuInit".into()),
                code: 1,
            },
            |sums| sums.failures = 1,
        ),
    ];
    for (event, sums) in wanted {
        let shown = format!("{event:?}");
        let mut expected = Activity::default();
        sums(&mut expected);
        let ledger = ledger_of([Script::new(7, 1, "app").push(event)]);
        assert_eq!(ledger.all(), &expected, "{shown}");
        let programs: Vec<_> = ledger.programs().iter().map(|(_, program)| &program.activity).collect();
        assert_eq!(programs, [&expected], "{shown}");
        match ledger.live().next() {
            Some(process) => assert_eq!(&process.activity, &expected, "{shown}"),
            None => assert!(expected.is_idle(), "{shown}"),
        }
    }
}

#[test]
fn a_free_at_the_moment_of_its_allocation_frees_it() {
    let mut script = Script::new(7, 1, "app").allocate(0x1000, 64).free(0x1000);
    script.events[2].at = script.events[1].at;
    let ledger = ledger_of([script]);
    assert_eq!((ledger.all().freed.total().bytes, ledger.all().unknown_frees), (64, 0));
}

#[test]
fn a_limit_counts_only_what_is_still_there() {
    let one = Limits {
        allocations: 1,
        functions: 1,
        ended: 1,
        kernels: 1,
        ..Limits::default()
    };
    let named = |script: Script, name: &str| {
        script.push(EventKind::Name {
            function: FunctionHandle(0xf),
            name: name.into(),
            module: Some(ModuleHandle(1)),
        })
    };
    let unload = || EventKind::ModuleUnload {
        module: ModuleHandle(1),
    };
    let freed = |script: Script| script.allocate(0x1000, 8).free(0x1000);
    let left_by_a_context = |script: Script| {
        let context = ContextHandle(1);
        let script = script.in_context(1).allocate(0x2000, 8);
        script.push(EventKind::ContextEnd { context }).in_context(0)
    };
    let replaced = |script: Script| script.allocate(0x3000, 8).allocate(0x3000, 16).free(0x3000);
    let script = Script::new(7, 1, "first");
    let script = replaced(left_by_a_context(freed(left_by_a_context(freed(script)))));
    let script = named(named(script, "a").launch(0xf).push(unload()), "a").launch(0xf);
    let first = script.allocate(0x4000, 8).exit(0);
    let after = |pid| {
        let script = freed(Script::new(pid, u64::from(pid) * 1_000, "next"));
        named(script, "b").launch(0xf).exit(0)
    };
    let ledger = limited(one, [first, after(8), after(9)]);
    assert_eq!(ledger.all().untracked.total().count, 0);
    assert_eq!(named_launches(&ledger), [("a".to_owned(), 2), ("b".to_owned(), 2)]);
    // The row of the one that is kept was that of the ones before.
    let kept: Vec<_> = ledger
        .ended()
        .latest()
        .map(|process| (process.id.pid, process.kernels()))
        .collect();
    assert!(
        matches!(&kept[..], [(9, kernels)] if matches!(kernels[..], [(KernelKey::Named(_), count)] if count.launches == 1)),
        "{kept:?}"
    );
}

#[test]
fn the_peak_of_a_process_is_the_most_that_it_ever_had() {
    let script = Script::new(7, 1, "app")
        .allocate(0x1000, 64)
        .allocate(0x2000, 32)
        .free(0x1000);
    let ledger = ledger_of([script.allocate(0x3000, 8)]);
    assert_eq!(
        (only_live(&ledger).peak_bytes, only_live(&ledger).memory.bytes()),
        (96, 40)
    );
}

#[test]
fn groups_of_memory_have_the_most_bytes_first_and_their_oldest_and_newest_time() {
    let script = Script::new(7, 1, "app")
        .allocate(0x1000, 50)
        .after_ms(1)
        .allocate(0x2000, 20);
    let script = script.after_ms(1).allocate(0x3000, 20).after_ms(1).allocate(0x4000, 20);
    let times: Vec<_> = script.events.iter().skip(1).map(|event| event.at).collect();
    let ledger = ledger_of([script]);
    let groups = only_live(&ledger).memory.groups();
    let found: Vec<_> = groups
        .iter()
        .map(|group| (group.bytes, group.count, group.oldest, group.newest))
        .collect();
    assert_eq!(found, [(20, 3, times[1], times[3]), (50, 1, times[0], times[0])]);
    assert_eq!(only_live(&ledger).memory.oldest(), Some(times[0]));
}

#[test]
fn kernels_of_a_process_have_the_most_launches_first() {
    let script = Script::new(7, 1, "app").name(1, "seldom").name(2, "often").launch(1);
    let ledger = ledger_of([script.launch(2).launch(2).launch(3)]);
    let counts = only_live(&ledger).kernels();
    let launches: Vec<u64> = counts.iter().map(|(_, count)| count.launches).collect();
    assert_eq!(launches, [2, 1, 1]);
    assert_eq!(counts[2].0, KernelKey::Unnamed);
}

#[test]
fn a_program_has_the_name_of_its_file_or_of_its_command_without_folders() {
    let named = |executable: Option<&str>, command: &[&str]| {
        let script = Script::unseen(7, 1).push(EventKind::Started(crate::ProcessStart {
            origin: crate::Origin::Before,
            executable: executable.map(Into::into),
            command: command.iter().map(|word| (*word).to_owned()).collect(),
            owner: crate::Owner::default(),
        }));
        let ledger = ledger_of([script.launch(1)]);
        let wanted = ledger.program_of(only_live(&ledger)).expect("it did something");
        let mut programs = ledger.programs().iter();
        let (_, program) = programs.find(|(key, _)| *key == wanted).expect("a program");
        let program = program.name.clone();
        assert_eq!(only_live(&ledger).program().unwrap_or("unknown"), program);
        program
    };
    assert_eq!(named(Some("/opt/app/bin/train"), &["python"]), "train");
    assert_eq!(named(None, &["/usr/bin/python3", "x/y"]), "python3");
    assert_eq!(named(None, &["python3"]), "python3");
    assert_eq!(named(None, &[]), "unknown");
}

#[test]
fn a_beginning_that_comes_after_the_first_call_gives_the_process_its_program() {
    let mut late = Script::new(7, 1, "app");
    let start = late.events.remove(0);
    let mut script = late.launch(1);
    script.events.push(Event { at: script.at, ..start });
    let script = script.after_ms(1).launch(1);
    let ledger = ledger_of([script]);
    assert_eq!((ledger.started(), only_live(&ledger).program()), (1, Some("app")));
    let programs: Vec<_> = ledger
        .programs()
        .iter()
        .map(|(_, program)| (program.name.as_str(), program.activity.kernel_launches()))
        .collect();
    assert_eq!(programs, [("unknown", 1), ("app", 1)]);
}

#[test]
fn an_event_that_comes_late_does_not_turn_the_time_back() {
    let script = Script::new(7, 1, "app").after_ms(5).launch(1);
    let latest = script.at;
    let mut ledger = Ledger::new(Limits::default());
    script.events.into_iter().rev().for_each(|event| ledger.apply(event));
    assert_eq!((ledger.now(), ledger.events()), (latest, 2));
}

#[test]
fn the_largest_groups_of_what_a_process_leaves_are_kept() {
    let script = (1..=100).fold(Script::new(7, 1, "leaky"), |script, n| script.allocate(0x1000 * n, n));
    let ledger = ledger_of([script.exit(0)]);
    let ended = ledger
        .ended()
        .latest()
        .next()
        .and_then(|process| process.ended.as_ref());
    let left: Vec<u64> = ended
        .expect("an end")
        .left
        .groups
        .iter()
        .map(|group| group.bytes)
        .collect();
    assert_eq!(left, (37..=100).rev().collect::<Vec<u64>>());
}

#[test]
fn only_memory_that_its_context_owns_ends_with_it() {
    for kind in MemoryKind::ALL {
        let script = Script::new(7, 1, "app").in_context(1).allocate_as(kind, 0x10, 100);
        let context = ContextHandle(1);
        let ledger = ledger_of([script.push(EventKind::ContextEnd { context })]);
        let stays = matches!(
            kind,
            MemoryKind::StreamOrdered | MemoryKind::Pool | MemoryKind::Physical
        );
        assert_eq!(only_live(&ledger).memory.bytes() == 100, stays, "{kind:?}");
        assert_eq!(ledger.all().left[kind].bytes == 100, !stays, "{kind:?}");
    }
}

#[test]
fn kernels_that_nothing_has_any_more_give_their_names_to_those_that_run() {
    let limits = Limits {
        names: 8,
        ..Limits::default()
    };
    let mut ledger = Ledger::new(limits);
    let mut play = |script: Script| script.events.into_iter().for_each(|event| ledger.apply(event));
    let many = |pid: u32, name: &str, count: u64| {
        let script = Script::new(pid, u64::from(pid), name);
        (1..=count).fold(script, |script, n| script.name(n, &format!("{name}_{n}")).launch(n))
    };
    play(many(7, "early", 8).launch(1).launch(1).exit(0));
    let hot = (0..100).fold(many(8, "hot", 1), |script, _| script.launch(1));
    play(hot);
    for pid in 9..5000 {
        play(many(pid, &format!("batch{pid}"), 3).exit(0));
    }
    play(many(5000, "late", 2));
    let launches = named_launches(&ledger);
    let of = |name: &str| launches.iter().find(|(own, _)| own == name).map(|(_, count)| *count);
    assert_eq!((of("hot_1"), of("late_2")), (Some(101), Some(1)), "{launches:?}");
    assert_eq!(of("early_8"), None, "it ended, and was launched least: {launches:?}");
    let total: u64 = launches.iter().map(|(_, count)| count).sum();
    assert_eq!(
        total,
        ledger.all().kernel_launches(),
        "what is given up is among the others"
    );
    assert_eq!(ledger.names().turned_away(), 0);
    assert!(ledger.names().given_up() > 10_000);
    for process in ledger.live().chain(ledger.ended().latest()) {
        let own: u64 = process.kernels().iter().map(|(_, count)| count.launches).sum();
        assert_eq!(own, process.activity.kernel_launches());
    }
}

#[test]
fn a_name_that_a_process_has_is_never_given_up_and_the_search_is_not_repeated_for_each() {
    let limits = Limits {
        names: 4,
        ..Limits::default()
    };
    let script = (1..=20_000).fold(Script::new(7, 1, "app"), |script, n| script.name(n, &format!("k{n}")));
    let ledger = limited(limits, [script.launch(1).launch(4).launch(5)]);
    let wanted = [("Other", 1), ("k1", 1), ("k4", 1)].map(|(name, count)| (name.to_owned(), count));
    assert_eq!(named_launches(&ledger), wanted);
    assert_eq!((ledger.names().given_up(), ledger.names().turned_away()), (0, 19_996));
}

#[test]
fn a_program_that_ended_gives_its_row_to_one_that_runs() {
    let limits = Limits {
        programs: 2,
        ..Limits::default()
    };
    let script = |pid: u32| Script::new(pid, u64::from(pid), &format!("p{pid}")).launch(1);
    let ledger = limited(limits, [script(1), script(2).exit(0), script(3), script(4)]);
    let rows: Vec<_> = ledger
        .programs()
        .iter()
        .map(|(_, program)| (program.name.as_str(), program.running))
        .collect();
    assert_eq!(rows, [("p1", 1), ("p3", 1), ("other", 1)]);
    let programs = ledger.programs();
    assert_eq!((programs.retired_rows(), programs.turned_away()), (1, 1));
    assert_eq!(programs.retired().kernel_launches(), 1);
}

#[test]
fn only_processes_that_call_the_driver_have_a_program() {
    let shell = Script::new(6, 1, "sh");
    let child = shell.fork(7).launch(1);
    let ledger = ledger_of([shell, child]);
    assert_eq!(ledger.programs().iter().count(), 1);
    assert_eq!((ledger.started(), ledger.used_the_driver()), (2, 1));
}

#[test]
fn kernels_of_programs_that_nothing_has_any_more_make_room_for_those_that_run() {
    let limits = Limits {
        kernels_of_programs: 8,
        ..Limits::default()
    };
    let mut ledger = Ledger::new(limits);
    let mut play = |script: Script| script.events.into_iter().for_each(|event| ledger.apply(event));
    for pid in 1..1000 {
        let script = Script::new(pid, u64::from(pid), &format!("p{}", pid % 4));
        let script = (1..=3).fold(script, |script, n| script.name(n, &format!("k{n}")).launch(n));
        play(script.exit(0));
    }
    play(Script::new(1000, 1000, "late").name(1, "k").launch(1).launch(1));
    let (_, late) = ledger
        .programs()
        .iter()
        .find(|(_, program)| program.name == "late")
        .expect("it runs");
    let rows: Vec<_> = late
        .kernels()
        .map(|(key, count)| (ledger.names().name(key).is_some(), count.launches))
        .collect();
    assert_eq!(rows, [(true, 2)]);
    let all: usize = ledger
        .programs()
        .iter()
        .map(|(_, program)| program.kernels().count())
        .sum();
    assert!(all <= 8 + ledger.programs().iter().count(), "{all}");
}
