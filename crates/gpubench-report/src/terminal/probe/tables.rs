//! The tables of an observation.

use std::collections::BTreeSet;

use anstyle::Style;

use super::figures::{age, bytes, bytes_rate, count, rate};
use super::grid::{Grid, Room};
use crate::terminal::style::{BAD, FAINT, PLAIN};
use crate::terminal::table::NONE;
use gpubench_contract::{ProbeDirection, ProbeMemoryKind, ProbeProcess, ProbeState, ProbeTimedCalls};

/// Lines of at least this many columns have more columns.
const WIDE: usize = 100;
/// Lines of fewer columns have only what matters most.
pub(super) const USUAL: usize = 60;

/// Returns the processes, those that run first.
pub(super) fn processes(seen: &ProbeState, when: When) -> Grid {
    let columns: &[(&'static str, Room)] = match when {
        When::Live => &[
            ("pid", Room::From(USUAL)),
            ("memory", Room::Any),
            ("peak", Room::From(WIDE)),
            ("allocations", Room::From(WIDE)),
            ("oldest", Room::From(USUAL)),
            ("launches/s", Room::Any),
            ("launches", Room::From(WIDE)),
            ("copied", Room::From(WIDE)),
            ("errors", Room::Any),
        ],
        When::Final => &[
            ("pid", Room::From(USUAL)),
            ("peak memory", Room::Any),
            ("unfreed", Room::Any),
            ("launches", Room::From(USUAL)),
            ("copied", Room::From(USUAL)),
            ("errors", Room::Any),
        ],
    };
    let mut grid = Grid::new("process", columns.iter().copied()).leaving_out(seen.processes_left_out);
    for process in &seen.processes {
        let (name, style) = name_when(&process_name(process), process.running, when);
        let figures = match when {
            When::Live => live_figures(process),
            When::Final => final_figures(process),
        };
        grid.styled_row(&name, style, figures);
    }
    grid
}

/// Returns the name of a process with what is not to be expected: that it has ended while others
/// run, or still runs at the end.
pub(super) fn name_when(name: &str, running: bool, when: When) -> (String, Style) {
    match (running, when) {
        (true, When::Final) => (format!("{name} (still runs)"), PLAIN),
        (true, When::Live) | (false, When::Final) => (name.to_owned(), PLAIN),
        (false, When::Live) => (format!("{name} (ended)"), FAINT),
    }
}

fn live_figures(process: &ProbeProcess) -> Vec<String> {
    vec![
        process.pid.to_string(),
        bytes(process.live_bytes),
        bytes(process.peak_bytes),
        count(process.live),
        process.oldest_ns.map_or_else(|| NONE.to_owned(), age),
        rate(process.launches_per_second),
        count(process.launches),
        bytes(process.copied_bytes),
        count(process.errors),
    ]
}

fn final_figures(process: &ProbeProcess) -> Vec<String> {
    vec![
        process.pid.to_string(),
        bytes(process.peak_bytes),
        bytes(process.unfreed_bytes),
        count(process.launches),
        bytes(process.copied_bytes),
        count(process.errors),
    ]
}

/// Returns the name of a process for people.
pub(crate) fn process_name(process: &ProbeProcess) -> String {
    process
        .program
        .clone()
        .unwrap_or_else(|| "(unknown program)".to_owned())
}

/// Returns the kernels, with rates and with shares.
pub(super) fn kernels(seen: &ProbeState, when: When) -> Grid {
    let total = seen.work.launches().max(1) as f64;
    let last = match when {
        When::Live => ("launches/s", Room::Any),
        When::Final => ("share", Room::Any),
    };
    let mut grid = Grid::new(
        "kernel",
        [last, ("launches", Room::Any), ("captured", Room::From(WIDE))],
    )
    .leaving_out(seen.kernels_left_out);
    for kernel in &seen.kernels {
        let figure = match when {
            When::Live => rate(kernel.launches_per_second),
            When::Final => gpubench_contract::units::percent(kernel.launches as f64 / total),
        };
        let captured = match kernel.captured_launches {
            0 => NONE.to_owned(),
            captured => count(captured),
        };
        grid.row(&kernel.name, [figure, count(kernel.launches), captured]);
    }
    grid
}

/// When a table is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// During the observation: rates are those of the last interval.
    Live,
    /// At its end.
    Final,
}

/// Returns the copies.
pub(super) fn copies(seen: &ProbeState) -> Grid {
    let mut grid = Grid::new(
        "copies",
        [
            ("bytes/s", Room::Any),
            ("bytes", Room::Any),
            ("copies", Room::From(USUAL)),
            ("bandwidth", Room::From(USUAL)),
        ],
    );
    for copies in &seen.copies {
        let cells = [
            bytes_rate(copies.bytes_per_second),
            bytes(copies.bytes),
            count(copies.copies),
            copies.bandwidth.map_or_else(|| NONE.to_owned(), bytes_rate),
        ];
        grid.row(direction(copies.direction), cells);
    }
    grid
}

/// Returns a direction for people.
pub(crate) fn direction(direction: ProbeDirection) -> &'static str {
    match direction {
        ProbeDirection::HostToDevice => "host to device",
        ProbeDirection::DeviceToHost => "device to host",
        ProbeDirection::DeviceToDevice => "device to device",
        ProbeDirection::HostToHost => "host to host",
        ProbeDirection::PeerToPeer => "device to other device",
        ProbeDirection::Unknown => "unknown direction",
    }
}

/// Returns the memory by kind.
pub(super) fn memory(seen: &ProbeState) -> Grid {
    let mut grid = Grid::new(
        "memory",
        [
            ("allocations", Room::From(USUAL)),
            ("bytes", Room::Any),
            ("freed", Room::From(USUAL)),
            ("live", Room::From(USUAL)),
            ("unfreed", Room::Any),
        ],
    );
    for memory in &seen.memory {
        let cells = [
            count(memory.allocations),
            bytes(memory.allocated_bytes),
            bytes(memory.freed_bytes),
            bytes(memory.live_bytes),
            bytes(memory.unfreed_bytes),
        ];
        grid.row(kind(memory.kind), cells);
    }
    grid
}

/// Returns a kind of memory for people.
pub(crate) fn kind(kind: ProbeMemoryKind) -> &'static str {
    match kind {
        ProbeMemoryKind::Device => "device",
        ProbeMemoryKind::StreamOrdered => "stream-ordered",
        ProbeMemoryKind::Pool => "pool",
        ProbeMemoryKind::Managed => "managed",
        ProbeMemoryKind::Pinned => "pinned host",
        ProbeMemoryKind::Registered => "registered host",
        ProbeMemoryKind::Physical => "physical",
        ProbeMemoryKind::Array => "array",
    }
}

/// Returns how many calls took how long.
pub(super) fn durations(seen: &ProbeState) -> Grid {
    let columns = seen
        .durations
        .iter()
        .map(|durations| (timed(durations.calls), Room::Any));
    let mut grid = Grid::new("time of a call", columns);
    for (time, counts) in times(seen) {
        grid.row(&time, counts);
    }
    grid
}

/// Returns the times that calls took, each with the number of calls of each kind.
pub(crate) fn times(seen: &ProbeState) -> Vec<(String, Vec<String>)> {
    let classes = seen.durations.iter().flat_map(|durations| &durations.classes);
    let bounds: BTreeSet<_> = classes.map(|class| (class.above_ns, class.at_most_ns)).collect();
    let row = |(above, at_most): (u64, Option<u64>)| {
        let time = match at_most {
            Some(at_most) if above == 0 => format!("up to {}", round(at_most)),
            Some(at_most) => format!("{} to {}", round(above), round(at_most)),
            None => format!("above {}", round(above)),
        };
        let counts = seen.durations.iter().map(|durations| {
            let class = durations.classes.iter().find(|class| class.above_ns == above);
            class.map_or_else(|| NONE.to_owned(), |class| count(class.count))
        });
        (time, counts.collect())
    };
    bounds.into_iter().map(row).collect()
}

/// Returns a round time: `1 µs`, `20 ms`, `10 s`.
fn round(nanoseconds: u64) -> String {
    match nanoseconds {
        0..1_000_000 => format!("{} µs", nanoseconds / 1_000),
        1_000_000..1_000_000_000 => format!("{} ms", nanoseconds / 1_000_000),
        _ => format!("{} s", nanoseconds / 1_000_000_000),
    }
}

/// Returns calls whose times are counted, for people.
pub(crate) fn timed(calls: ProbeTimedCalls) -> &'static str {
    match calls {
        ProbeTimedCalls::Allocation => "allocations",
        ProbeTimedCalls::ContextWait => "context waits",
        ProbeTimedCalls::StreamWait => "stream waits",
        ProbeTimedCalls::EventWait => "event waits",
    }
}

/// Returns the calls that failed.
pub(super) fn errors(seen: &ProbeState) -> Grid {
    let mut grid = Grid::new("errors", [("code", Room::Any), ("count", Room::Any)]);
    for error in &seen.errors {
        let name = error.name.as_deref().unwrap_or("unknown error");
        let what = format!("{}: {name}", error.call);
        grid.styled_row(&what, BAD, [error.code.to_string(), count(error.count)]);
    }
    if seen.errors_left_out > 0 {
        grid.row("others", [NONE.to_owned(), count(seen.errors_left_out)]);
    }
    grid
}
