//! What is exported.

use std::collections::BTreeMap;

use prometheus_client::registry::Unit;

use super::RETENTION;
use super::family::{Families, Family, PROGRAM, ProgramLabels};
use super::kernel_rows::KernelRows;
use super::labels::{OTHER, UNNAMED, value};
use super::memory::{memory, oldest};
use crate::ledger::{KernelKey, Ledger, Program, ProgramKey};
use crate::sample::Totals;
use crate::{CopyDirection, OwnerLabel, Timestamp, result_name};
use gpubench_contract::ProbeDirection;

/// The most functions of the driver with their own row.
const FUNCTIONS: usize = 1024;

/// The most rows of a page. 128 programs that do something of every kind have as many; a usual one
/// has about 40.
pub const MOST_ROWS: usize = 30_000;

/// A program that has rows.
pub(super) struct Row<'a> {
    pub(super) key: ProgramKey,
    /// Its labels.
    pub(super) name: Vec<(&'static str, String)>,
    pub(super) program: &'a Program,
}

/// Returns all families. Each is there even without rows.
pub(super) fn families(ledger: &Ledger, totals: &Totals, now: Timestamp, kernels: &KernelRows) -> Families {
    let programs = programs(ledger, now);
    let mut families = probe(ledger, totals, kernels);
    families.extend(processes(ledger, &programs));
    families.extend(calls(totals, &programs));
    families.extend(work(ledger, &programs, kernels));
    families.extend(copies(&programs));
    families.extend(memory(ledger, &programs));
    families.push(oldest(ledger, &programs, now));
    Families(families)
}

/// Returns the programs that run, or ended lately.
fn programs(ledger: &Ledger, now: Timestamp) -> Vec<Row<'_>> {
    let all = ledger.programs().iter();
    let is_shown = |key, program: &Program| match key {
        ProgramKey::OTHER => !program.activity.is_idle(),
        _ => program.running > 0 || now.since(program.changed) <= RETENTION,
    };
    let shown = all.filter(|(key, program)| is_shown(*key, program));
    shown
        .map(|(key, program)| Row {
            key,
            name: labels_of(program, ledger.labels()),
            program,
        })
        .collect()
}

/// Returns the labels of a program. The others have no owner.
fn labels_of(program: &Program, labels: &[OwnerLabel]) -> Vec<(&'static str, String)> {
    let owner = labels.iter().zip(&program.owner);
    let owner = owner.map(|(label, text)| (label.name(), value(text)));
    [(PROGRAM, value(&program.name))].into_iter().chain(owner).collect()
}

fn probe(ledger: &Ledger, totals: &Totals, kernels: &KernelRows) -> Vec<Family> {
    let mut version = Family::gauge(
        "gpubench_probe_build_info",
        &["version"],
        "The version of the probe, always 1",
    );
    version.add([env!("CARGO_PKG_VERSION")], 1.0);
    let mut events = Family::counter("gpubench_probe_events", &[], "Events of observed processes");
    events.add([], ledger.events() as f64);
    let mut lost = Family::counter(
        "gpubench_probe_lost_events",
        &[],
        "Events that were lost: if it grows, all but gpubench_cuda_calls_total may be incomplete",
    );
    lost.add([], totals.lost as f64);
    let mut folded = Family::counter(
        "gpubench_probe_folded",
        &["label"],
        "What went to the value other, since a label has a limited number of values: launches for \
         kernel, processes for program, errors for call",
    );
    folded.add(["call"], ledger.errors().other() as f64);
    folded.add(["kernel"], kernels.folded() as f64);
    folded.add(["program"], ledger.programs().turned_away() as f64);
    let mut retired = Family::counter(
        "gpubench_probe_retired_values",
        &["label"],
        "Values of a label that disappeared, since what they stood for ended or others are busier",
    );
    retired.add(["kernel"], kernels.retired() as f64);
    retired.add(["program"], ledger.programs().retired_rows() as f64);
    let mut left_out = Family::counter(
        "gpubench_probe_left_out_processes",
        &[],
        "Processes that called the driver and that a filter leaves out; no row without a filter",
    );
    if let Some(counts) = totals.left_out {
        left_out.add([], counts.used_the_driver as f64);
    }
    vec![version, events, lost, traps(totals), folded, retired, left_out]
}

/// Returns what the probes cost, and whom.
fn traps(totals: &Totals) -> Family {
    let mut traps = Family::gauge(
        "gpubench_probe_traps",
        &["at", "pays"],
        "Functions of the driver at which a call traps into the kernel: at an instruction that it emulates, \
         at one that it steps over, which takes 15 times as long, or at the return",
    );
    for driver in &totals.drivers {
        let kinds = [
            ("emulated", driver.traps.emulated),
            ("stepped", driver.traps.stepped),
            ("return", driver.traps.returns),
        ];
        for (at, count) in kinds {
            traps.add([at, driver.payer().as_str()], count as f64);
        }
    }
    traps
}

fn processes(ledger: &Ledger, programs: &[Row<'_>]) -> [Family; 2] {
    let mut running =
        Family::gauge("gpubench_cuda_processes", &[], "Processes that run and used the driver").by_program();
    for Row { name, .. } in programs {
        running.add_of(name, [], 0.0);
    }
    for (name, _) in live(ledger, programs) {
        running.add_of(name, [], 1.0);
    }
    let mut seen = Family::counter("gpubench_cuda_processes_seen", &[], "Processes that used the driver");
    seen.add([], ledger.used_the_driver() as f64);
    [running, seen]
}

/// Returns the processes that run, each with its program.
pub(super) fn live<'a>(
    ledger: &'a Ledger,
    programs: &'a [Row<'_>],
) -> impl Iterator<Item = (&'a ProgramLabels, &'a crate::ledger::Process)> {
    let names: BTreeMap<ProgramKey, &ProgramLabels> = programs.iter().map(|row| (row.key, &*row.name)).collect();
    ledger
        .live()
        .filter_map(move |process| Some((*names.get(&ledger.program_of(process)?)?, process)))
}

fn calls(totals: &Totals, programs: &[Row<'_>]) -> Vec<Family> {
    let mut calls = Family::counter(
        "gpubench_cuda_calls",
        &["call"],
        "Calls of each function of the driver that does more than ask, exact even where events are lost; no \
         rows with a filter",
    );
    for (place, total) in totals.functions.iter().filter(|total| total.entries > 0).enumerate() {
        let call = if place < FUNCTIONS { &*total.call.0 } else { OTHER };
        calls.add([&value(call)], total.entries as f64);
    }
    let mut errors = Family::counter(
        "gpubench_cuda_call_errors",
        &["call", "code", "error"],
        "Calls that failed, by function and CUresult",
    )
    .by_program();
    for Row { name, program, .. } in programs {
        for (key, count) in program.errors.iter() {
            let error = result_name(key.code).unwrap_or("unknown");
            errors.add_of(name, [&value(&key.call.0), &key.code.to_string(), error], count as f64);
        }
        if program.errors.other() > 0 {
            errors.add_of(name, [OTHER; 3], program.errors.other() as f64);
        }
    }
    vec![calls, errors]
}

fn work(ledger: &Ledger, programs: &[Row<'_>], rows: &KernelRows) -> Vec<Family> {
    let mut launches = Family::counter(
        "gpubench_cuda_launches",
        &["kind"],
        "Launches of kernels and graphs that run, by call",
    )
    .by_program();
    let mut captured = Family::counter(
        "gpubench_cuda_captured_launches",
        &[],
        "Launches of kernels into a capture, which run only with their graph",
    )
    .by_program();
    let mut waits = Family::histogram(
        "gpubench_cuda_wait",
        &["for"],
        "Times of the calls that waited for the context, for a stream or for an event",
    );
    let mut streams = Family::gauge(
        "gpubench_cuda_streams",
        &[],
        "Streams that processes which run created and did not destroy",
    )
    .by_program();
    let mut modules = Family::counter("gpubench_cuda_modules_loaded", &[], "Modules that were loaded").by_program();
    for Row { name, program, .. } in programs {
        let sums = &program.activity;
        let [plain, extended, cooperative] = sums.launches;
        let kinds = [
            ("plain", plain),
            ("extended", extended),
            ("cooperative", cooperative),
            ("graph", sums.graph_launches),
        ];
        for (kind, count) in kinds {
            launches.add_of(name, [kind], count as f64);
        }
        captured.add_of(name, [], sums.captured_launches as f64);
        for (what, times) in ["context", "stream", "event"].into_iter().zip(&sums.waits) {
            waits.add_times(name, [what], times);
        }
        streams.add_of(name, [], 0.0);
        modules.add_of(name, [], sums.modules_loaded as f64);
    }
    for (name, process) in live(ledger, programs) {
        let sums = &process.activity;
        let number = sums.streams_created.saturating_sub(sums.streams_destroyed);
        streams.add_of(name, [], number as f64);
    }
    let kernels = kernels(ledger, programs, rows);
    vec![launches, captured, kernels, waits, streams, modules]
}

fn kernels(ledger: &Ledger, programs: &[Row<'_>], rows: &KernelRows) -> Family {
    let names: BTreeMap<ProgramKey, &ProgramLabels> = programs.iter().map(|row| (row.key, &*row.name)).collect();
    let mut kernels = Family::counter(
        "gpubench_cuda_kernel_launches",
        &["kernel"],
        "Launches of kernels that run, by name, of the busiest; they are counted when the name is known",
    )
    .by_program();
    for (program, kernel, launches) in rows.rows() {
        let Some(program) = names.get(&program) else {
            continue;
        };
        let label = match (kernel, ledger.names().name(kernel)) {
            (_, Some(name)) => value(&name.demangled),
            (KernelKey::Other, None) => OTHER.to_owned(),
            (KernelKey::Named(_) | KernelKey::Unnamed, None) => UNNAMED.to_owned(),
        };
        kernels.add_of(program, [&label], launches as f64);
    }
    for (program, launches) in rows.others() {
        if let Some(program) = names.get(&program) {
            kernels.add_of(program, [OTHER], launches as f64);
        }
    }
    kernels
}

fn copies(programs: &[Row<'_>]) -> Vec<Family> {
    let direction = &["direction"];
    let mut copies = Family::counter("gpubench_cuda_copies", direction, "Copies of memory").by_program();
    let mut bytes = Family::counter("gpubench_cuda_copied", direction, "Bytes that were copied")
        .by_program()
        .in_unit(Unit::Bytes);
    let mut waited_bytes = Family::counter(
        "gpubench_cuda_waited_copy",
        direction,
        "Bytes of the copies whose call waited for them",
    )
    .by_program()
    .in_unit(Unit::Bytes);
    let mut waited = Family::counter(
        "gpubench_cuda_waited_copy",
        direction,
        "Time of the copies whose call waited for them; bytes over time is their bandwidth",
    )
    .by_program()
    .in_unit(Unit::Seconds);
    let mut memsets = Family::counter("gpubench_cuda_memsets", &[], "Memsets").by_program();
    let mut memset_bytes = Family::counter("gpubench_cuda_memset", &[], "Bytes that were filled")
        .by_program()
        .in_unit(Unit::Bytes);
    for Row { name, program, .. } in programs {
        for direction in CopyDirection::ALL {
            let total = program.activity.copies_of(direction);
            if total.all.count == 0 {
                continue;
            }
            let word = [ProbeDirection::from(direction).as_str()];
            copies.add_of(name, word, total.all.count as f64);
            bytes.add_of(name, word, total.all.bytes as f64);
            waited_bytes.add_of(name, word, total.waited_bytes as f64);
            waited.add_of(name, word, total.waited.as_secs_f64());
        }
        memsets.add_of(name, [], program.activity.memsets.count as f64);
        memset_bytes.add_of(name, [], program.activity.memsets.bytes as f64);
    }
    vec![copies, bytes, waited_bytes, waited, memsets, memset_bytes]
}
