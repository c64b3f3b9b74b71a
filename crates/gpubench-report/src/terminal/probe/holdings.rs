//! Memory that processes left, and memory that they still have.

use std::fmt::Write;

use super::figures::{age, bytes, count, several};
use super::tables::{kind, process_name};
use crate::terminal::style::{BAD, GOOD, TITLE};
use gpubench_contract::{ProbeAllocation, ProbeAllocations, ProbeProcess, ProbeState};
use gpubench_diagnostic::printable_line;

/// The most processes that are shown.
const LEAKING: usize = 10;
/// The most groups of allocations of each.
const GROUPS: usize = 5;

/// Returns what processes had when they ended, and contexts when they were destroyed.
pub(super) fn left(seen: &ProbeState) -> String {
    let mut leaking: Vec<&ProbeProcess> = seen.processes.iter().filter(|process| process.unfreed > 0).collect();
    leaking.sort_by_key(|process| std::cmp::Reverse(process.unfreed_bytes));
    let total: u64 = seen.memory.iter().map(|memory| memory.unfreed).sum();
    let total_bytes: u64 = seen.memory.iter().map(|memory| memory.unfreed_bytes).sum();
    let has_ended = seen.processes.iter().any(|process| !process.running);
    if total == 0 {
        return if has_ended {
            format!("\n{GOOD}Nothing was left allocated.{GOOD:#}\n")
        } else {
            String::new()
        };
    }
    let text = format!(
        "\n{BAD}Left allocated:{BAD:#} {} in {} when processes or contexts ended\n",
        bytes(total_bytes),
        several(total, "allocation", "allocations")
    );
    let rows = leaking.iter().map(|process| Holding {
        process,
        count: process.unfreed,
        bytes: process.unfreed_bytes,
        lines: lines_left(process),
    });
    let listed: u64 = leaking.iter().map(|process| process.unfreed).sum();
    text + &by_process(&rows.collect::<Vec<_>>(), Listed::of(listed, total))
}

/// Returns what processes have that run on.
pub(super) fn still_allocated(seen: &ProbeState) -> String {
    let running = still_live(seen);
    if running.is_empty() {
        return String::new();
    }
    let total: u64 = running.iter().map(|process| process.live).sum();
    let total_bytes: u64 = running.iter().map(|process| process.live_bytes).sum();
    let head = format!(
        "\n{TITLE}Still allocated:{TITLE:#} {} in {} by processes that run on\n",
        bytes(total_bytes),
        several(total, "allocation", "allocations")
    );
    let rows = running.iter().map(|process| Holding {
        process,
        count: process.live,
        bytes: process.live_bytes,
        lines: lines_of(process),
    });
    let all: u64 = seen.memory.iter().map(|memory| memory.live).sum();
    head + &by_process(&rows.collect::<Vec<_>>(), Listed::of(total, all))
}

/// Returns the processes that run and have memory, those with the most first.
pub(crate) fn still_live(seen: &ProbeState) -> Vec<&ProbeProcess> {
    let mut running: Vec<&ProbeProcess> = seen.processes.iter().collect();
    running.retain(|process| process.running && process.live > 0);
    running.sort_by_key(|process| std::cmp::Reverse(process.live_bytes));
    running
}

/// Returns a line for each part of what a process left. A process that runs on has parts of what it
/// still has, and none of what its contexts left.
pub(crate) fn lines_left(process: &ProbeProcess) -> Vec<String> {
    if process.running { Vec::new() } else { lines_of(process) }
}

/// Returns a line for each allocation that the record lists, or else for each group.
pub(crate) fn lines_of(process: &ProbeProcess) -> Vec<String> {
    if process.allocations.is_empty() {
        return process.memory.iter().map(described).collect();
    }
    process.allocations.iter().map(described_one).collect()
}

/// Allocations of a process.
struct Holding<'a> {
    process: &'a ProbeProcess,
    count: u64,
    bytes: u64,
    lines: Vec<String>,
}

/// Whether the record lists all processes with such memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Listed {
    All,
    Some,
}

impl Listed {
    fn of(listed: u64, all: u64) -> Self {
        if listed < all { Listed::Some } else { Listed::All }
    }
}

fn by_process(rows: &[Holding<'_>], listed: Listed) -> String {
    let mut text = String::new();
    for holding in rows.iter().take(LEAKING) {
        let _ = writeln!(
            text,
            "  {} ({}): {} in {}",
            printable_line(&process_name(holding.process)),
            holding.process.pid,
            bytes(holding.bytes),
            several(holding.count, "allocation", "allocations")
        );
        // Who asks for each allocation gets all that the record has.
        let is_listed = !holding.process.allocations.is_empty();
        let most = if is_listed { usize::MAX } else { GROUPS };
        text.extend(holding.lines.iter().take(most).map(|line| format!("    {line}\n")));
        let has_more = is_listed && (holding.lines.len() as u64) < holding.count;
        if holding.lines.len() > most || has_more {
            text += "    …\n";
        }
    }
    let more = rows.len().saturating_sub(LEAKING) as u64;
    let _ = match (more, listed) {
        (0, Listed::All) => Ok(()),
        (0, Listed::Some) => writeln!(text, "  … and processes that are not listed"),
        (more, Listed::All) => writeln!(text, "  … {} more", several(more, "process", "processes")),
        (more, Listed::Some) => writeln!(text, "  … at least {} more", several(more, "process", "processes")),
    };
    text
}

/// Returns `0x7f0010000000: 1 MiB device, allocated by thread 1234 12.1 s before the end`.
fn described_one(allocation: &ProbeAllocation) -> String {
    format!(
        "{}: {} {}, allocated by thread {} {} before the end",
        allocation.address.as_deref().unwrap_or("not mapped"),
        bytes(allocation.bytes),
        kind(allocation.kind),
        allocation.thread,
        age(allocation.age_ns)
    )
}

/// Returns `12 × 1 MiB device, allocated by thread 1234 from 12.1 s to 0.40 s before the end`.
fn described(group: &ProbeAllocations) -> String {
    let times = match group.count {
        1 => format!("{} before the end", age(group.oldest_ns)),
        _ => format!(
            "from {} to {} before the end",
            age(group.oldest_ns),
            age(group.newest_ns)
        ),
    };
    format!(
        "{} × {} {}, allocated by thread {} {times}",
        count(group.count),
        bytes(group.bytes),
        kind(group.kind),
        group.thread
    )
}
