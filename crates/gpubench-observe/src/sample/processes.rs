//! Processes as rows.

use std::cmp::Reverse;
use std::time::Duration;

use gpubench_contract::{ProbeAllocation, ProbeAllocations, ProbeLaunches, ProbeProcess};
use gpubench_diagnostic::layout::in_one_line;

use super::before::{Before, rate};
use super::rows::{ARGUMENTS, GROUPS, KERNELS_OF_A_PROCESS, Rows};
use super::state::name_of;
use crate::Timestamp;
use crate::ledger::{AllocationGroup, Ledger, Process};

/// Returns the rows of processes, and how many have none.
pub(super) fn processes(
    ledger: &Ledger,
    before: &Before,
    now: Timestamp,
    interval: Duration,
    rows: Rows,
) -> (Vec<ProbeProcess>, u64) {
    let mut running: Vec<&Process> = ledger.live().collect();
    running.sort_by_key(|process| {
        let launches = process.activity.kernel_launches();
        (Reverse(process.memory.bytes()), Reverse(launches), process.id)
    });
    let mut ended: Vec<&Process> = ledger.ended().latest().collect();
    ended.reverse();
    let in_others = u64::from(!ledger.others().is_idle());
    let hidden = running.len().saturating_sub(rows.running) + ended.len().saturating_sub(rows.ended);
    let shown = running
        .into_iter()
        .take(rows.running)
        .chain(ended.into_iter().take(rows.ended));
    let shown = shown
        .map(|process| ProbeProcess {
            allocations: allocations(process, now, rows.allocations.min(ledger.limits().listed)),
            ..row(ledger, process, before, now, interval)
        })
        .collect();
    (shown, hidden as u64 + ledger.ended().earlier() + in_others)
}

fn row(ledger: &Ledger, process: &Process, before: &Before, now: Timestamp, interval: Duration) -> ProbeProcess {
    let activity = &process.activity;
    let launches = activity.kernel_launches();
    let (until, groups) = match &process.ended {
        None => (now, process.memory.groups()),
        Some(ended) => (ended.at, ended.left.groups.clone()),
    };
    let left = activity.left.total();
    let live = process.memory.totals().total();
    let oldest = groups.iter().map(|group| group.oldest).min();
    let kernels = process.kernels().into_iter().take(KERNELS_OF_A_PROCESS);
    let command = process.start.as_ref().map_or(&[][..], |start| &start.command);
    let (arguments, letters) = ARGUMENTS;
    ProbeProcess {
        pid: process.id.pid,
        program: process.program().map(str::to_owned),
        command: command
            .iter()
            .take(arguments)
            .map(|word| in_one_line(word, letters))
            .collect(),
        running: process.ended.is_none(),
        wait_status: process.ended.as_ref().and_then(|ended| ended.status),
        seen_ns: nanoseconds(until.since(process.first_seen)),
        launches,
        graph_launches: activity.graph_launches,
        launches_per_second: match process.ended {
            None => rate(launches, before.process(process.id), interval),
            Some(_) => 0.0,
        },
        copied_bytes: activity.copies.iter().map(|total| total.all.bytes).sum(),
        live: live.count,
        live_bytes: live.bytes,
        peak_bytes: process.peak_bytes,
        oldest_ns: oldest
            .filter(|_| process.ended.is_none())
            .map(|oldest| nanoseconds(now.since(oldest))),
        memory: groups.iter().take(GROUPS).map(|group| group_of(group, until)).collect(),
        allocations: Vec::new(),
        unfreed: left.count,
        unfreed_bytes: left.bytes,
        unknown_frees: activity.unknown_frees,
        errors: activity.failures,
        kernels: kernels
            .map(|(key, count)| ProbeLaunches {
                name: name_of(ledger, key),
                launches: count.launches,
            })
            .collect(),
    }
}

/// Returns what a process has or left, one by one.
fn allocations(process: &Process, now: Timestamp, most: usize) -> Vec<ProbeAllocation> {
    if most == 0 {
        return Vec::new();
    }
    let (until, held) = match &process.ended {
        None => (now, process.memory.largest(most)),
        Some(ended) => (ended.at, ended.left.allocations.clone()),
    };
    let told = held.into_iter().take(most).map(|held| ProbeAllocation {
        address: held.address.map(|address| format!("{address:#x}")),
        kind: held.kind.into(),
        bytes: held.bytes,
        thread: held.thread,
        age_ns: nanoseconds(until.since(held.at)),
    });
    told.collect()
}

fn group_of(group: &AllocationGroup, now: Timestamp) -> ProbeAllocations {
    ProbeAllocations {
        kind: group.kind.into(),
        bytes: group.bytes,
        count: group.count,
        thread: group.thread,
        oldest_ns: nanoseconds(now.since(group.oldest)),
        newest_ns: nanoseconds(now.since(group.newest)),
    }
}

/// Returns a time in nanoseconds. 584 years are the most.
pub(super) fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
