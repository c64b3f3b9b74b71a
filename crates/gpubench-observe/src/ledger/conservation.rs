//! Nothing is lost and nothing is invented, whatever happens and however small the limits are.

use std::collections::HashMap;

use proptest::prelude::*;

use super::{Ledger, Limits};
use crate::testing::Script;
use crate::{EventKind, FunctionHandle, MemoryKind};

/// A step of one of a few processes. Addresses, handles and pids are few, so that they meet.
#[derive(Clone, Debug)]
enum Step {
    Allocate { address: u64, bytes: u64 },
    Free { address: u64 },
    FailToAllocate,
    FailToFree,
    Launch { function: u64 },
    Name { function: u64, name: u8 },
    Alias { function: u64, of: u64 },
    Thread { thread: u32 },
    Exit,
}

fn steps() -> impl Strategy<Value = Vec<(u32, Step)>> {
    let step = prop_oneof![
        4 => (1u64..6, 1u64..100).prop_map(|(address, bytes)| Step::Allocate { address, bytes }),
        3 => (0u64..6).prop_map(|address| Step::Free { address }),
        1 => Just(Step::FailToAllocate),
        1 => Just(Step::FailToFree),
        4 => (1u64..6).prop_map(|function| Step::Launch { function }),
        2 => (1u64..6, any::<u8>()).prop_map(|(function, name)| Step::Name { function, name: name % 5 }),
        1 => (1u64..6, 1u64..6).prop_map(|(function, of)| Step::Alias { function, of }),
        1 => (1u32..4).prop_map(|thread| Step::Thread { thread }),
        1 => Just(Step::Exit),
    ];
    proptest::collection::vec((1u32..5, step), 0..120)
}

fn limits() -> impl Strategy<Value = Limits> {
    let few = 0usize..4;
    let several = [
        few.clone(),
        few.clone(),
        few.clone(),
        few.clone(),
        few.clone(),
        few.clone(),
        few,
    ];
    let small = several.prop_map(
        |[processes, ended, allocations, functions, names, kernels, errors]| Limits {
            processes,
            ended,
            allocations,
            listed: allocations,
            functions,
            names,
            kernels,
            errors,
            programs: 1,
            kernels_of_programs: 1,
        },
    );
    prop_oneof![Just(Limits::default()), small]
}

/// What the programs themselves know.
#[derive(Default)]
struct Truth {
    live: HashMap<u32, HashMap<u64, u64>>,
    allocated: u64,
    launches: u64,
    failures: u64,
}

/// Plays the steps. Each exit begins another process with the same pid.
fn play(limits: Limits, steps: &[(u32, Step)]) -> (Ledger, Truth) {
    let mut ledger = Ledger::new(limits);
    let mut truth = Truth::default();
    let mut scripts: HashMap<u32, Script> = HashMap::new();
    for (at, (pid, step)) in (2..).zip(steps) {
        let script = scripts
            .remove(pid)
            .unwrap_or_else(|| Script::new(*pid, at, &format!("p{pid}")));
        let live = truth.live.entry(*pid).or_default();
        let script = script.after_ms(1);
        let mut script = match *step {
            Step::Allocate { address, bytes } => {
                truth.allocated += bytes;
                live.insert(address, bytes);
                script.allocate(address, bytes)
            }
            Step::Free { address } => {
                live.remove(&address);
                script.free(address)
            }
            Step::FailToAllocate => script.fail("cuMemAlloc", 2),
            Step::FailToFree => script.fail("cuMemFree", 1),
            Step::Launch { function } => {
                truth.launches += 1;
                script.launch(function)
            }
            Step::Name { function, name } => script.name(function, &format!("k{name}")),
            Step::Alias { function, of } => script.push(EventKind::Alias {
                function: FunctionHandle(function),
                of: FunctionHandle(of),
            }),
            Step::Thread { thread } => script.in_thread(thread),
            Step::Exit => {
                live.clear();
                script.exit(0)
            }
        };
        truth.failures += u64::from(matches!(step, Step::FailToAllocate | Step::FailToFree));
        script.events.drain(..).for_each(|event| ledger.apply(event));
        if !matches!(step, Step::Exit) {
            scripts.insert(*pid, script);
        }
    }
    (ledger, truth)
}

proptest! {
    #[test]
    fn every_byte_is_freed_gone_left_untracked_or_live(limits in limits(), steps in steps()) {
        let (ledger, truth) = play(limits, &steps);
        let all = ledger.all();
        let live: u64 = ledger.live().map(|process| process.memory.totals().total().bytes).sum();
        prop_assert_eq!(all.allocated.total().bytes, truth.allocated);
        let found = [&all.freed, &all.vanished, &all.left, &all.untracked];
        let found: u64 = found.map(|by_kind| by_kind.total().bytes).iter().sum();
        prop_assert_eq!(found + live, truth.allocated);
    }

    #[test]
    fn live_memory_is_what_the_program_has(steps in steps()) {
        let (ledger, truth) = play(Limits::default(), &steps);
        for (pid, wanted) in truth.live {
            let process = ledger.live_with_pid(pid);
            let totals = process.map_or(Default::default(), |process| process.memory.totals()[MemoryKind::Device]);
            prop_assert_eq!(totals.count, wanted.len() as u64);
            prop_assert_eq!(totals.bytes, wanted.values().sum::<u64>());
        }
    }

    #[test]
    fn every_launch_is_in_one_row(limits in limits(), steps in steps()) {
        let (ledger, truth) = play(limits, &steps);
        let rows: u64 = ledger.kernels().map(|(_, count)| count.launches).sum();
        prop_assert_eq!(ledger.all().kernel_launches(), truth.launches);
        prop_assert_eq!(rows + ledger.unnamed().launches, truth.launches);
        for process in ledger.live().chain(ledger.ended().latest()) {
            let own: u64 = process.kernels().iter().map(|(_, count)| count.launches).sum();
            prop_assert_eq!(own, process.activity.kernel_launches());
        }
    }

    #[test]
    fn processes_and_programs_add_up_to_all(limits in limits(), steps in steps()) {
        let (ledger, truth) = play(limits, &steps);
        let mut processes = ledger.others().activity.clone();
        processes.merge(ledger.ended().earlier_activity());
        ledger.live().chain(ledger.ended().latest()).for_each(|process| processes.merge(&process.activity));
        prop_assert_eq!(&processes, ledger.all());
        let mut programs = super::Activity::default();
        programs.merge(ledger.programs().retired());
        ledger.programs().iter().for_each(|(_, program)| programs.merge(&program.activity));
        prop_assert_eq!(&programs, ledger.all());
        prop_assert_eq!(ledger.all().failures, truth.failures);
    }

    #[test]
    fn tables_stay_within_their_limits(limits in limits(), steps in steps()) {
        let (ledger, _) = play(limits, &steps);
        prop_assert!(ledger.live_count() <= limits.processes);
        prop_assert!(ledger.ended().latest().count() <= limits.ended);
        let live: u64 = ledger.live().map(|process| process.memory.totals().total().count).sum();
        prop_assert!(live <= limits.allocations as u64);
        prop_assert!(ledger.errors().iter().count() <= limits.errors);
        // Each table of kernels has up to two rows more: for those without a name, and for others.
        prop_assert!(ledger.kernels().count() <= limits.names + 2);
    }
}
