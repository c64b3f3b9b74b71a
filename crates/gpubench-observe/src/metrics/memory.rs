//! The memory that programs have, had and left.

use prometheus_client::registry::Unit;

use super::families::{Row, live};
use super::family::{Family, ProgramLabels};
use crate::ledger::Ledger;
use crate::{MemoryKind, Timestamp};
use gpubench_contract::ProbeMemoryKind;

/// Returns the families of memory.
pub(super) fn memory(ledger: &Ledger, programs: &[Row<'_>]) -> Vec<Family> {
    let counter = |name, help| Family::counter(name, &["kind"], help).by_program();
    let mut allocations = counter("gpubench_cuda_allocations", "Allocations of memory");
    let mut allocated = counter("gpubench_cuda_allocated", "Bytes that were allocated").in_unit(Unit::Bytes);
    let mut frees = counter("gpubench_cuda_frees", "Allocations that were freed");
    let mut freed = counter("gpubench_cuda_freed", "Bytes that were freed").in_unit(Unit::Bytes);
    let mut unfreed_count = counter(
        "gpubench_cuda_unfreed_allocations",
        "Allocations that processes had when they ended: leaks, if the program meant to free all",
    );
    let mut unfreed = counter(
        "gpubench_cuda_unfreed",
        "Bytes that processes had allocated when they ended",
    )
    .in_unit(Unit::Bytes);
    let mut unknown = Family::counter(
        "gpubench_cuda_unknown_frees",
        &[],
        "Frees of memory that was not seen to be allocated",
    )
    .by_program();
    let mut times = Family::histogram(
        "gpubench_cuda_allocation",
        &[],
        "Times of the calls that allocated memory",
    );
    for Row { name, program, .. } in programs {
        let sums = &program.activity;
        times.add_times(name, [], &sums.allocation_times);
        for (kind, total) in sums.allocated.iter().filter(|(_, total)| total.count > 0) {
            let row = [ProbeMemoryKind::from(kind).as_str()];
            allocations.add_of(name, row, total.count as f64);
            allocated.add_of(name, row, total.bytes as f64);
            frees.add_of(name, row, sums.freed[kind].count as f64);
            freed.add_of(name, row, sums.freed[kind].bytes as f64);
            unfreed_count.add_of(name, row, sums.left[kind].count as f64);
            unfreed.add_of(name, row, sums.left[kind].bytes as f64);
        }
        if sums.unknown_frees > 0 {
            unknown.add_of(name, [], sums.unknown_frees as f64);
        }
    }
    let mut families = vec![
        allocations,
        allocated,
        times,
        frees,
        freed,
        unfreed_count,
        unfreed,
        unknown,
    ];
    families.extend(held(ledger, programs));
    families
}

/// Returns what processes that run have. A program without live memory keeps its row, with 0.
fn held(ledger: &Ledger, programs: &[Row<'_>]) -> [Family; 2] {
    let gauge = |name, help| Family::gauge(name, &["kind"], help).by_program();
    let mut count = gauge("gpubench_cuda_live_allocations", "Allocations that processes have");
    let mut bytes = gauge("gpubench_cuda_live", "Bytes that processes have allocated").in_unit(Unit::Bytes);
    let mut add = |name: &ProgramLabels, kind: MemoryKind, number: u64, size: u64| {
        let row = [ProbeMemoryKind::from(kind).as_str()];
        count.add_of(name, row, number as f64);
        bytes.add_of(name, row, size as f64);
    };
    for Row { name, program, .. } in programs {
        let kinds = program.activity.allocated.iter();
        kinds
            .filter(|(_, total)| total.count > 0)
            .for_each(|(kind, _)| add(name, kind, 0, 0));
    }
    for (name, process) in live(ledger, programs) {
        let kinds = process.memory.totals().iter();
        kinds
            .filter(|(_, total)| total.count > 0)
            .for_each(|(kind, total)| add(name, kind, total.count, total.bytes));
    }
    [count, bytes]
}

/// Returns the age of the oldest live allocation of each program.
pub(super) fn oldest(ledger: &Ledger, programs: &[Row<'_>], now: Timestamp) -> Family {
    let mut family = Family::gauge(
        "gpubench_cuda_oldest_allocation_age",
        &[],
        "Age of the oldest live allocation of a program, 0 if there is none",
    )
    .by_program()
    .in_unit(Unit::Seconds);
    let mut oldest: std::collections::BTreeMap<&ProgramLabels, Timestamp> = std::collections::BTreeMap::new();
    for (name, process) in live(ledger, programs) {
        if let Some(at) = process.memory.oldest() {
            let first = oldest.entry(name).or_insert(at);
            *first = at.min(*first);
        }
    }
    for Row { name, .. } in programs {
        let age = oldest.remove(&**name).map_or(0.0, |at| now.since(at).as_secs_f64());
        family.add_of(name, [], age);
    }
    family
}
