//! A ledger as tables.

use std::cmp::Reverse;
use std::time::Duration;

use gpubench_contract::{
    ProbeCalls, ProbeCopies, ProbeDriver, ProbeDurationClass, ProbeDurations, ProbeError, ProbeKernel, ProbeMemory,
    ProbeState, ProbeTimedCalls, ProbeWork,
};

use super::Totals;
use super::before::{Before, kernels_of, rate};
use super::processes::{nanoseconds, processes};
use super::rows::Rows;
use crate::ledger::{ByKind, Durations, KernelKey, Ledger};
use crate::{CopyDirection, MemoryKind, Timestamp, result_name};

/// The name of kernels whose names the driver did not tell.
const UNNAMED: &str = "(unnamed)";
/// The name of kernels beyond a limit.
const OTHER: &str = "(other)";

/// Returns what was seen until now, with rates since `before`.
pub(super) fn state(ledger: &Ledger, totals: &Totals, before: &Before, now: Timestamp, rows: Rows) -> ProbeState {
    let interval = now.since(before.at);
    let (processes, processes_left_out) = processes(ledger, before, now, interval, rows);
    let (kernels, kernels_left_out) = kernels(ledger, before, interval, rows.kernels);
    let (errors, errors_left_out) = errors(ledger, rows.errors);
    ProbeState {
        events: ledger.events(),
        lost_events: totals.lost,
        notices: totals.notices.clone(),
        left_out: totals.left_out.map(Into::into),
        drivers: drivers(totals),
        processes_seen: ledger.started(),
        processes,
        processes_left_out,
        work: work(ledger, before, interval),
        kernels,
        kernels_left_out,
        copies: copies(ledger, before, interval),
        memory: memory(ledger),
        durations: durations(ledger),
        unknown_frees: ledger.all().unknown_frees,
        errors,
        errors_left_out,
        calls: calls(totals),
    }
}

/// Returns the name of a kernel for people.
pub(super) fn name_of(ledger: &Ledger, key: KernelKey) -> String {
    match (key, ledger.names().name(key)) {
        (_, Some(name)) => name.demangled.to_string(),
        (KernelKey::Other, None) => OTHER.to_owned(),
        (KernelKey::Named(_) | KernelKey::Unnamed, None) => UNNAMED.to_owned(),
    }
}

fn work(ledger: &Ledger, before: &Before, interval: Duration) -> ProbeWork {
    let all = ledger.all();
    let [plain_launches, extended_launches, cooperative_launches] = all.launches;
    let waited: Duration = all.waits.iter().map(Durations::total).sum();
    ProbeWork {
        plain_launches,
        extended_launches,
        cooperative_launches,
        captured_launches: all.captured_launches,
        graph_launches: all.graph_launches,
        launches_per_second: rate(all.kernel_launches(), before.launches, interval),
        graph_launches_per_second: rate(all.graph_launches, before.graph_launches, interval),
        host_functions: all.host_functions,
        memsets: all.memsets.count,
        memset_bytes: all.memsets.bytes,
        waits: all.waits.iter().map(Durations::count).sum(),
        waited_ns: nanoseconds(waited),
        streams_created: all.streams_created,
        streams_destroyed: all.streams_destroyed,
        modules_loaded: all.modules_loaded,
    }
}

fn kernels(ledger: &Ledger, before: &Before, interval: Duration, most: usize) -> (Vec<ProbeKernel>, u64) {
    let mut kernels: Vec<_> = kernels_of(ledger).collect();
    kernels.sort_by_key(|(key, count)| (Reverse(count.launches), Reverse(count.captured), *key));
    let left_out = kernels.len().saturating_sub(most) as u64;
    let shown = kernels.into_iter().take(most).map(|(key, count)| ProbeKernel {
        name: name_of(ledger, key),
        mangled: ledger.names().name(key).map(|name| name.mangled.to_string()),
        launches: count.launches,
        captured_launches: count.captured,
        launches_per_second: rate(count.launches, before.kernel(key, ledger), interval),
    });
    (shown.collect(), left_out)
}

fn copies(ledger: &Ledger, before: &Before, interval: Duration) -> Vec<ProbeCopies> {
    let totals = CopyDirection::ALL.map(|direction| (direction, ledger.all().copies_of(direction)));
    let some = totals.into_iter().filter(|(_, total)| total.all.count > 0);
    some.map(|(direction, total)| ProbeCopies {
        direction: direction.into(),
        copies: total.all.count,
        bytes: total.all.bytes,
        bytes_per_second: rate(total.all.bytes, before.copied[direction as usize], interval),
        bandwidth: total.bandwidth(),
    })
    .collect()
}

fn memory(ledger: &Ledger) -> Vec<ProbeMemory> {
    let all = ledger.all();
    let mut live = ByKind::default();
    ledger.live().for_each(|process| live.merge(process.memory.totals()));
    let kinds = MemoryKind::ALL
        .into_iter()
        .filter(|kind| all.allocated[*kind].count > 0);
    kinds
        .map(|kind| ProbeMemory {
            kind: kind.into(),
            allocations: all.allocated[kind].count,
            allocated_bytes: all.allocated[kind].bytes,
            frees: all.freed[kind].count,
            freed_bytes: all.freed[kind].bytes,
            live: live[kind].count,
            live_bytes: live[kind].bytes,
            unfreed: all.left[kind].count,
            unfreed_bytes: all.left[kind].bytes,
            untracked: all.untracked[kind].count,
        })
        .collect()
}

fn durations(ledger: &Ledger) -> Vec<ProbeDurations> {
    let all = ledger.all();
    let [context, stream, event] = all.waits;
    let calls = [
        (ProbeTimedCalls::Allocation, all.allocation_times),
        (ProbeTimedCalls::ContextWait, context),
        (ProbeTimedCalls::StreamWait, stream),
        (ProbeTimedCalls::EventWait, event),
    ];
    let some = calls.into_iter().filter(|(_, durations)| durations.count() > 0);
    some.map(|(calls, durations)| ProbeDurations {
        calls,
        count: durations.count(),
        total_ns: nanoseconds(durations.total()),
        classes: classes(&durations),
    })
    .collect()
}

/// Returns the classes with calls.
fn classes(durations: &Durations) -> Vec<ProbeDurationClass> {
    let above = [None].into_iter().chain(Durations::BOUNDS.map(Some));
    let classes = above.zip(durations.classes()).filter(|(_, (_, count))| *count > 0);
    classes
        .map(|(above, (at_most, count))| ProbeDurationClass {
            above_ns: above.map_or(0, nanoseconds),
            at_most_ns: at_most.map(nanoseconds),
            count,
        })
        .collect()
}

fn errors(ledger: &Ledger, most: usize) -> (Vec<ProbeError>, u64) {
    let mut errors: Vec<_> = ledger.errors().iter().collect();
    errors.sort_by_key(|(key, count)| (Reverse(*count), *key));
    let hidden: u64 = errors.iter().skip(most).map(|(_, count)| count).sum();
    let shown = errors.iter().take(most).map(|(key, count)| ProbeError {
        call: key.call.to_string(),
        code: key.code,
        name: result_name(key.code).map(str::to_owned),
        count: *count,
    });
    (shown.collect(), hidden + ledger.errors().other())
}

fn drivers(totals: &Totals) -> Vec<ProbeDriver> {
    let drivers = totals.drivers.iter().map(|driver| ProbeDriver {
        path: driver.path.display().to_string(),
        emulated: driver.traps.emulated as u64,
        stepped: driver.traps.stepped as u64,
        returns: driver.traps.returns as u64,
        pays: driver.payer(),
    });
    drivers.collect()
}

fn calls(totals: &Totals) -> Vec<ProbeCalls> {
    let mut called: Vec<_> = totals.functions.iter().filter(|total| total.entries > 0).collect();
    called.sort_by_key(|total| (Reverse(total.entries), total.call.clone()));
    called
        .into_iter()
        .map(|total| ProbeCalls {
            call: total.call.to_string(),
            calls: total.entries,
            errors: (total.returns > 0).then_some(total.errors),
            lost: total.dropped,
        })
        .collect()
}
