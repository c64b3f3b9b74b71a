//! The summary at the end of an observation.

use super::figures::{age, count, several};
use super::grid::Grid;
use super::holdings::{left, still_allocated};
use super::screen::failures;
use super::tables::{When, copies, durations, errors, kernels, memory, processes};
use crate::terminal::style::DOUBTFUL;
use gpubench_contract::units::listed;
use gpubench_contract::{ProbeEnd, ProbeFinished, ProbeLeftOut, ProbePayer, ProbeStarted, ProbeState};
use gpubench_diagnostic::layout::fitted;
use gpubench_diagnostic::printable_line;

/// The most rows of a table.
const ROWS: usize = 20;

pub(super) fn summary_of_calls(seen: &ProbeState, started: &ProbeStarted, columns: usize) -> String {
    let mut page = fitted(&format!("{}\n", counts(seen)), columns);
    for table in [
        processes(seen, When::Final),
        kernels(seen, When::Final),
        copies(seen),
        memory(seen),
        durations(seen),
        errors(seen),
    ] {
        page += &section(&table, ROWS, columns);
    }
    page += &fitted(&left(seen), columns);
    page += &fitted(&still_allocated(seen), columns);
    page += &fitted(&drivers(seen), columns);
    page += &fitted(&remarks(incomplete(seen), started), columns);
    page
}

/// The most files of drivers that are listed.
const DRIVERS: usize = 4;

/// Returns what the probes of each file cost, and whom.
fn drivers(seen: &ProbeState) -> String {
    let lines = seen.drivers.iter().take(DRIVERS).map(|driver| {
        let functions = several(driver.emulated + driver.stepped, "function", "functions");
        let and = [
            (driver.returns > 0).then(|| format!("{} with their return", count(driver.returns))),
            (driver.stepped > 0).then(|| format!("{} slow", count(driver.stepped))),
        ];
        let and: String = and.into_iter().flatten().map(|part| format!(", {part}")).collect();
        let pays = match driver.pays {
            ProbePayer::EveryProcess => "every process that uses it pays",
            ProbePayer::OneProcess => "no other process pays",
        };
        let path = printable_line(&driver.path);
        format!("Probed: {functions}{and}, of {path}; {pays}.\n")
    });
    let lines: String = lines.collect();
    let more = match seen.drivers.len().saturating_sub(DRIVERS) {
        0 => String::new(),
        more => format!("Probed: {} more.\n", several(more as u64, "driver", "drivers")),
    };
    if lines.is_empty() {
        lines
    } else {
        format!("\n{lines}{more}")
    }
}

/// Returns how it ended and when: `exit code 0 after 12.4 s`, `killed by SIGSEGV after 3.1 s`,
/// `observed for 30.0 s`.
pub(crate) fn outcome(finished: &ProbeFinished) -> String {
    let time = age(finished.elapsed_ns);
    match (finished.exit_code, finished.signal, finished.end) {
        (Some(code), ..) => format!("exit code {code} after {time}"),
        (None, Some(signal), _) => format!("killed by {} after {time}", signal_name(signal)),
        (None, None, ProbeEnd::Ended) => format!("ended after {time}"),
        (None, None, ProbeEnd::Duration) => format!("observed for {time}"),
        (None, None, ProbeEnd::Interrupted) => format!("interrupted after {time}"),
    }
}

/// Returns the name of a signal that ends programs on Linux.
fn signal_name(signal: i32) -> String {
    let name = match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        15 => "SIGTERM",
        _ => return format!("signal {signal}"),
    };
    name.to_owned()
}

/// Returns the sums: `2 processes, 1,234 launches of 5 kernels, 10 graph launches, 3 errors`.
pub(crate) fn counts(seen: &ProbeState) -> String {
    let work = &seen.work;
    let processes = seen.processes.len() as u64 + seen.processes_left_out;
    let named = seen.kernels.iter().filter(|kernel| kernel.mangled.is_some());
    let kernels = named.count() as u64 + seen.kernels_left_out;
    let launches = several(work.launches(), "launch", "launches");
    let failed = failures(seen);
    if processes == 0 && seen.left_out.is_some() {
        return "No process that matches the filter called the CUDA driver.".to_owned();
    }
    if processes == 0 {
        let calls = seen.calls.iter().map(|function| function.calls).sum();
        return match calls {
            0 => "No call of the CUDA driver was seen.".to_owned(),
            _ => format!(
                "{} of the CUDA driver besides queries, but no memory or work.",
                several(calls, "call", "calls")
            ),
        };
    }
    let text = listed([
        Some(several(processes, "process", "processes")),
        Some(match kernels {
            0 => launches,
            kernels => format!("{launches} of {}", several(kernels, "kernel", "kernels")),
        }),
        (work.graph_launches > 0).then(|| several(work.graph_launches, "graph launch", "graph launches")),
        (work.captured_launches > 0).then(|| several(work.captured_launches, "captured launch", "captured launches")),
        (work.memsets > 0).then(|| several(work.memsets, "memset", "memsets")),
        (work.waits > 0).then(|| {
            let waits = several(work.waits, "wait", "waits");
            format!("{waits} ({} in total)", age(work.waited_ns))
        }),
        (failed > 0).then(|| several(failed, "error", "errors")),
    ]);
    format!("{text}.")
}

pub(super) fn section(table: &Grid, rows: usize, columns: usize) -> String {
    let lines = table.lines(columns, rows);
    lines.iter().enumerate().fold(String::new(), |page, (position, line)| {
        let before = if position == 0 { "\n" } else { "" };
        format!("{page}{before}{line}\n")
    })
}

/// Returns what a filter leaves out: `2 processes do not match the filter and are left out`. `None`
/// if that is nothing.
pub(crate) fn left_out(left_out: &ProbeLeftOut, calls: Calls) -> Option<String> {
    let (number, which) = match calls {
        Calls::Observed => (left_out.used_the_driver, " that called the driver"),
        Calls::NotObserved => (left_out.processes, ""),
    };
    let processes = several(number, "process", "processes");
    let do_not = if number == 1 { "does" } else { "do" };
    let are = if number == 1 { "is" } else { "are" };
    let unknown = match left_out.unknown {
        0 => String::new(),
        unknown => format!("; {} ended too early to tell", several(unknown, "process", "processes")),
    };
    let text = format!("{processes}{which} {do_not} not match the filter and {are} left out{unknown}");
    (number > 0 || left_out.unknown > 0).then_some(text)
}

/// Whether calls are observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Calls {
    Observed,
    NotObserved,
}

/// Returns what makes the tables incomplete.
fn incomplete(seen: &ProbeState) -> Vec<String> {
    let untracked: u64 = seen.memory.iter().map(|memory| memory.untracked).sum();
    let remarks = [
        seen.left_out.and_then(|counts| left_out(&counts, Calls::Observed)),
        (seen.lost_events > 0).then(|| {
            format!(
                "{} events were lost, so the tables may be incomplete; the counts of calls are exact",
                count(seen.lost_events)
            )
        }),
        (seen.unknown_frees > 0).then(|| {
            format!(
                "{} freed memory that was not seen to be allocated",
                several(seen.unknown_frees, "call", "calls")
            )
        }),
        (untracked > 0).then(|| {
            format!(
                "{} were not followed: too many at once",
                several(untracked, "allocation", "allocations")
            )
        }),
    ];
    remarks
        .into_iter()
        .flatten()
        .chain(seen.notices.iter().cloned())
        .collect()
}

/// Returns notes: these remarks, and those of the start.
pub(super) fn remarks(remarks: Vec<String>, started: &ProbeStarted) -> String {
    let all = remarks.into_iter().chain(started.notices.iter().cloned());
    let lines = all.map(|remark| format!("{DOUBTFUL}note{DOUBTFUL:#}: {}\n", printable_line(&remark)));
    let lines: String = lines.collect();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}
