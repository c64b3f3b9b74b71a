//! The screen that is redrawn while an observation lasts.

use super::figures::{age, bytes_in_words, rate_in_words, several};
use super::grid::Grid;
use super::tables::{When, copies, errors, kernels, processes};
use crate::terminal::style::{BAD, DOUBTFUL, FAINT, TITLE};
use gpubench_contract::{ProbeFilter, ProbeSample, ProbeStarted, ProbeState, ProbeTarget};
use gpubench_diagnostic::layout::in_one_line;
use gpubench_diagnostic::printable_line;

/// The size of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScreenSize {
    /// Letters in a line.
    pub columns: usize,
    /// Lines.
    pub rows: usize,
}

pub(super) fn screen_of_calls(
    started: &ProbeStarted,
    sample: &ProbeSample,
    seen: &ProbeState,
    size: ScreenSize,
) -> Vec<String> {
    let mut lines = head(started, sample, seen, size.columns);
    let tables = [
        processes(seen, When::Live),
        kernels(seen, When::Live),
        copies(seen),
        errors(seen),
    ];
    add_tables(&mut lines, &tables, size);
    if seen.processes.is_empty() {
        lines.push(String::new());
        lines.push(format!("{FAINT}no call of the CUDA driver yet{FAINT:#}"));
    }
    lines
}

/// Adds tables, each with as many rows as there is room for.
pub(super) fn add_tables<const N: usize>(lines: &mut Vec<String>, tables: &[Grid; N], size: ScreenSize) {
    let rows = shares(tables, size.rows.saturating_sub(lines.len()));
    for (table, rows) in tables.iter().zip(rows) {
        let table = table.lines(size.columns, rows);
        if !table.is_empty() {
            lines.push(String::new());
            lines.extend(table);
        }
    }
}

/// Returns the first line: `python train.py  12.4 s  1 process`.
pub(super) fn first_line(started: &ProbeStarted, sample: &ProbeSample, running: usize, columns: usize) -> String {
    let processes = several(running as u64, "process", "processes");
    // On the narrowest terminals, what is observed has the whole line.
    const LEAST: usize = 8;
    let facts = format!("  {}  {processes}", age(sample.elapsed_ns));
    let facts = if facts.len() + LEAST > columns { "" } else { &facts };
    let what = in_one_line(&what(started), columns.saturating_sub(facts.len()));
    format!("{TITLE}{what}{TITLE:#}{FAINT}{facts}{FAINT:#}")
}

fn head(started: &ProbeStarted, sample: &ProbeSample, seen: &ProbeState, columns: usize) -> Vec<String> {
    let running = seen.processes.iter().filter(|process| process.running).count();
    let first = first_line(started, sample, running, columns);
    let mut lines = vec![first, in_one_line(&sums(seen), columns)];
    let failed = failures(seen);
    if failed > 0 {
        let errors = several(failed, "error", "errors");
        lines.push(format!("{BAD}{}{BAD:#}", in_one_line(&errors, columns)));
    }
    if seen.lost_events > 0 {
        let lost = several(seen.lost_events, "event was", "events were");
        let lost = format!("{lost} lost: the tables may be incomplete");
        lines.push(format!("{DOUBTFUL}{}{DOUBTFUL:#}", in_one_line(&lost, columns)));
    }
    lines
}

/// Returns `12,345 launches/s · 12.0 graphs/s · 1.500 GiB in 312 allocations`.
fn sums(seen: &ProbeState) -> String {
    let live: u64 = seen.memory.iter().map(|memory| memory.live_bytes).sum();
    let allocations: u64 = seen.memory.iter().map(|memory| memory.live).sum();
    let allocations = several(allocations, "allocation", "allocations");
    let parts = [
        Some(format!("{} launches/s", rate_in_words(seen.work.launches_per_second))),
        (seen.work.graph_launches > 0)
            .then(|| format!("{} graphs/s", rate_in_words(seen.work.graph_launches_per_second))),
        Some(format!("{} in {allocations}", bytes_in_words(live))),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// Returns the number of calls that failed.
pub(crate) fn failures(seen: &ProbeState) -> u64 {
    seen.errors.iter().map(|error| error.count).sum::<u64>() + seen.errors_left_out
}

/// Returns what is observed: `python train.py`, `process 1234`, `all processes (--user 1000)`.
pub(crate) fn what(started: &ProbeStarted) -> String {
    let command = started.command.join(" ");
    let what = match (started.target, &started.pids[..]) {
        (ProbeTarget::System, _) => "all processes".to_owned(),
        (ProbeTarget::Process, [pid]) => format!("process {pid}"),
        (ProbeTarget::Process, pids) => format!("processes {}", some_of(pids)),
        (ProbeTarget::Command, _) => printable_line(&command),
    };
    match &started.filter {
        Some(filter) => format!("{what} ({})", options_of(filter)),
        None => what,
    }
}

/// Values that are shown of a list.
const VALUES: usize = 3;

/// Returns values, and how many are not shown.
fn some_of<T: ToString>(values: &[T]) -> String {
    let shown: Vec<String> = values.iter().take(VALUES).map(ToString::to_string).collect();
    let shown = printable_line(&shown.join(", "));
    match values.len().saturating_sub(VALUES) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Returns a filter as the options that make it.
fn options_of(filter: &ProbeFilter) -> String {
    let programs = (!filter.programs.is_empty()).then(|| format!("--program {}", some_of(&filter.programs)));
    let users = (!filter.users.is_empty()).then(|| format!("--user {}", some_of(&filter.users)));
    let cgroups = (!filter.cgroups.is_empty()).then(|| format!("--cgroup {}", some_of(&filter.cgroups)));
    let options: Vec<String> = [programs, users, cgroups].into_iter().flatten().collect();
    options.join(" ")
}

/// Shares lines between tables. Each gets its titles and a row, then those with more rows get what
/// is left, in turn.
fn shares<const N: usize>(tables: &[Grid; N], lines: usize) -> [usize; N] {
    // An empty line and the titles.
    const FRAME: usize = 2;
    let wanted = tables.each_ref().map(Grid::len);
    let mut rows = [0; N];
    let mut left = lines;
    for (place, wanted) in wanted.iter().enumerate() {
        if *wanted > 0 && left > FRAME {
            rows[place] = 1;
            left -= FRAME + 1;
        }
    }
    while left > 0 {
        let before = left;
        for (place, wanted) in wanted.iter().enumerate() {
            if left > 0 && rows[place] > 0 && rows[place] < *wanted {
                rows[place] += 1;
                left -= 1;
            }
        }
        if left == before {
            break;
        }
    }
    rows
}
