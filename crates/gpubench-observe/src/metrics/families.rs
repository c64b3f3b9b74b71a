//! What is exported.

use prometheus_client::registry::Unit;

use super::exporter::KnownLabels;
use super::family::{Families, Family};
use super::labels::{OTHER, value};
use crate::ledger::{KernelKey, Ledger, Program};
use crate::sample::Totals;
use crate::{CopyDirection, MemoryKind, Timestamp, result_name};
use gpubench_contract::{ProbeDirection, ProbeMemoryKind};

/// The most functions of the driver with their own row.
const FUNCTIONS: usize = 1024;

/// Returns all families. Each is there even without rows.
pub(super) fn families(ledger: &Ledger, totals: &Totals, now: Timestamp, known: &mut KnownLabels) -> Families {
    let mut families = probe(ledger, totals);
    families.extend(calls(ledger, totals));
    families.extend(work(ledger, known));
    families.extend(copies(ledger));
    families.extend(memory(ledger));
    families.push(oldest(ledger, now));
    Families(families)
}

fn probe(ledger: &Ledger, totals: &Totals) -> Vec<Family> {
    let mut version = Family::gauge("gpubench_probe_info", &["version"], "The version of the tool, always 1");
    version.add([env!("CARGO_PKG_VERSION")], 1.0);
    let mut events = Family::counter("gpubench_probe_events", &[], "Events of observed processes");
    events.add([], ledger.events() as f64);
    let mut lost = Family::counter(
        "gpubench_probe_lost_events",
        &[],
        "Events that were lost: if it grows, all but gpubench_cuda_calls_total may be incomplete",
    );
    lost.add([], totals.lost as f64);
    let mut running = Family::gauge("gpubench_cuda_processes", &[], "Processes that run and used the driver");
    running.add([], ledger.live().count() as f64);
    let mut started = Family::counter("gpubench_cuda_processes_seen", &[], "Processes that were seen");
    started.add([], ledger.started() as f64);
    vec![version, events, lost, running, started]
}

fn calls(ledger: &Ledger, totals: &Totals) -> Vec<Family> {
    let mut calls = Family::counter(
        "gpubench_cuda_calls",
        &["call"],
        "Calls of each function of the driver that does more than ask, exact even where events are lost",
    );
    for (place, total) in totals.functions.iter().filter(|total| total.entries > 0).enumerate() {
        let call = if place < FUNCTIONS { &*total.call.0 } else { OTHER };
        calls.add([&value(call)], total.entries as f64);
    }
    let mut errors = Family::counter(
        "gpubench_cuda_call_errors",
        &["call", "code", "error"],
        "Calls that failed, by function and CUresult",
    );
    for (key, count) in ledger.errors().iter() {
        let error = result_name(key.code).unwrap_or("unknown");
        errors.add([&value(&key.call.0), &key.code.to_string(), error], count as f64);
    }
    if ledger.errors().other() > 0 {
        errors.add([OTHER; 3], ledger.errors().other() as f64);
    }
    vec![calls, errors]
}

fn work(ledger: &Ledger, known: &mut KnownLabels) -> Vec<Family> {
    let all = ledger.all();
    let mut launches = Family::counter(
        "gpubench_cuda_launches",
        &["kind"],
        "Launches of kernels and graphs that run, by call",
    );
    let [plain, extended, cooperative] = all.launches;
    for (kind, count) in [
        ("plain", plain),
        ("extended", extended),
        ("cooperative", cooperative),
        ("graph", all.graph_launches),
    ] {
        launches.add([kind], count as f64);
    }
    let mut captured = Family::counter(
        "gpubench_cuda_captured_launches",
        &[],
        "Launches of kernels into a capture, which run only with their graph",
    );
    captured.add([], all.captured_launches as f64);
    let mut kernels = Family::counter(
        "gpubench_cuda_kernel_launches",
        &["kernel"],
        "Launches of kernels that run, by name; they are counted when the name is known",
    );
    let mut rows: Vec<_> = ledger.kernels().collect();
    rows.sort_by_key(|(key, count)| (std::cmp::Reverse(count.launches), *key));
    for (key, count) in rows.into_iter().filter(|(_, count)| count.launches > 0) {
        match ledger.names().name(key) {
            Some(name) => {
                let label = known.kernels.value(key, || name.demangled.to_string());
                kernels.add([&label], count.launches as f64);
            }
            None if key == KernelKey::Other => kernels.add([OTHER], count.launches as f64),
            None => kernels.add(["unnamed"], count.launches as f64),
        }
    }
    let mut waits = Family::counter(
        "gpubench_cuda_waits",
        &["for"],
        "Calls that waited for the context, for a stream or for an event",
    );
    let mut waited = Family::counter("gpubench_cuda_wait", &["for"], "Time that calls waited").in_unit(Unit::Seconds);
    for (what, total) in ["context", "stream", "event"].into_iter().zip(all.waits) {
        waits.add([what], total.waits as f64);
        waited.add([what], total.waited.as_secs_f64());
    }
    let mut streams = Family::gauge(
        "gpubench_cuda_streams",
        &[],
        "Streams that were created and not destroyed",
    );
    streams.add([], all.streams_created.saturating_sub(all.streams_destroyed) as f64);
    let mut modules = Family::counter("gpubench_cuda_modules_loaded", &[], "Modules that were loaded");
    modules.add([], all.modules_loaded as f64);
    vec![launches, captured, kernels, waits, waited, streams, modules]
}

fn copies(ledger: &Ledger) -> Vec<Family> {
    let all = ledger.all();
    let direction = &["direction"];
    let mut copies = Family::counter("gpubench_cuda_copies", direction, "Copies of memory");
    let mut bytes = Family::counter("gpubench_cuda_copied", direction, "Bytes that were copied").in_unit(Unit::Bytes);
    let mut waited_bytes = Family::counter(
        "gpubench_cuda_waited_copy",
        direction,
        "Bytes of the copies whose call waited for them",
    )
    .in_unit(Unit::Bytes);
    let mut waited = Family::counter(
        "gpubench_cuda_waited_copy",
        direction,
        "Time of the copies whose call waited for them; bytes over time is their bandwidth",
    )
    .in_unit(Unit::Seconds);
    for direction in CopyDirection::ALL {
        let total = all.copies_of(direction);
        let word = [ProbeDirection::from(direction).as_str()];
        copies.add(word, total.all.count as f64);
        bytes.add(word, total.all.bytes as f64);
        waited_bytes.add(word, total.waited_bytes as f64);
        waited.add(word, total.waited.as_secs_f64());
    }
    let mut memsets = Family::counter("gpubench_cuda_memsets", &[], "Memsets");
    memsets.add([], all.memsets.count as f64);
    let mut memset_bytes = Family::counter("gpubench_cuda_memset", &[], "Bytes that were filled").in_unit(Unit::Bytes);
    memset_bytes.add([], all.memsets.bytes as f64);
    vec![copies, bytes, waited_bytes, waited, memsets, memset_bytes]
}

fn memory(ledger: &Ledger) -> Vec<Family> {
    let labels = &["program", "kind"];
    let mut allocations = Family::counter("gpubench_cuda_allocations", labels, "Allocations of memory");
    let mut allocated =
        Family::counter("gpubench_cuda_allocated", labels, "Bytes that were allocated").in_unit(Unit::Bytes);
    let mut frees = Family::counter("gpubench_cuda_frees", labels, "Allocations that were freed");
    let mut freed = Family::counter("gpubench_cuda_freed", labels, "Bytes that were freed").in_unit(Unit::Bytes);
    let mut unfreed_count = Family::counter(
        "gpubench_cuda_unfreed_allocations",
        labels,
        "Allocations that processes had when they ended: leaks, if the program meant to free all",
    );
    let mut unfreed = Family::counter(
        "gpubench_cuda_unfreed",
        labels,
        "Bytes that processes had allocated when they ended",
    )
    .in_unit(Unit::Bytes);
    let mut unknown = Family::counter(
        "gpubench_cuda_unknown_frees",
        &["program"],
        "Frees of memory that was not seen to be allocated",
    );
    for Program { name, activity } in ledger.programs().iter() {
        let program = value(name);
        for kind in MemoryKind::ALL {
            let (total, word) = (activity.allocated[kind], ProbeMemoryKind::from(kind).as_str());
            if total.count == 0 {
                continue;
            }
            let row = [program.as_str(), word];
            allocations.add(row, total.count as f64);
            allocated.add(row, total.bytes as f64);
            frees.add(row, activity.freed[kind].count as f64);
            freed.add(row, activity.freed[kind].bytes as f64);
            unfreed_count.add(row, activity.left[kind].count as f64);
            unfreed.add(row, activity.left[kind].bytes as f64);
        }
        if activity.unknown_frees > 0 {
            unknown.add([&program], activity.unknown_frees as f64);
        }
    }
    let mut families = vec![allocations, allocated, frees, freed, unfreed_count, unfreed, unknown];
    families.extend(live(ledger));
    families
}

/// A program without live memory keeps its row, with 0.
fn live(ledger: &Ledger) -> [Family; 2] {
    let labels = &["program", "kind"];
    let mut count = Family::gauge(
        "gpubench_cuda_live_allocations",
        labels,
        "Allocations that processes have",
    );
    let mut bytes =
        Family::gauge("gpubench_cuda_live", labels, "Bytes that processes have allocated").in_unit(Unit::Bytes);
    let programs: Vec<_> = ledger.programs().iter().collect();
    for Program { name, activity } in &programs {
        for (kind, _) in activity.allocated.iter().filter(|(_, total)| total.count > 0) {
            let row = [&value(name), ProbeMemoryKind::from(kind).as_str()];
            count.add(row, 0.0);
            bytes.add(row, 0.0);
        }
    }
    for process in ledger.live() {
        let Some(program) = programs.get(ledger.program_place(process)) else {
            continue;
        };
        for (kind, total) in process.memory.totals().iter().filter(|(_, total)| total.count > 0) {
            let row = [&value(&program.name), ProbeMemoryKind::from(kind).as_str()];
            count.add(row, total.count as f64);
            bytes.add(row, total.bytes as f64);
        }
    }
    [count, bytes]
}

fn oldest(ledger: &Ledger, now: Timestamp) -> Family {
    let mut family = Family::gauge(
        "gpubench_cuda_oldest_allocation_age",
        &[],
        "Age of the oldest live allocation, 0 if there is none",
    )
    .in_unit(Unit::Seconds);
    let oldest = ledger.live().filter_map(|process| process.memory.oldest()).min();
    family.add([], oldest.map_or(0.0, |oldest| now.since(oldest).as_secs_f64()));
    family
}
