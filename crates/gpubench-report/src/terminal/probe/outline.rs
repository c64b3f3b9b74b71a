//! What is shown of processes whose calls cannot be observed. What is not known has no figure.

use super::figures::{age, count, rate_in_words, several};

use super::grid::{Grid, Room};
use super::screen::{ScreenSize, add_tables, first_line};
use super::summary::{Calls, left_out, remarks, section};
use super::tables::{USUAL, When, name_when};
use crate::terminal::style::{DOUBTFUL, FAINT};
use gpubench_contract::units::listed;
use gpubench_contract::{OutlinedProcess, ProbeOutline, ProbeSample, ProbeStarted};
use gpubench_diagnostic::layout::{fitted, in_one_line};

/// What nobody can say without the calls.
pub(crate) const UNKNOWN: &str = "Launches, memory, copies and errors were not observed.";
/// The same, in a line of the screen.
const UNKNOWN_YET: &str = "launches, memory, copies and errors are not observed";
/// The most rows of the table at the end.
const ROWS: usize = 20;

/// Returns the lines of the screen, which may be too many.
pub(super) fn screen(
    started: &ProbeStarted,
    sample: &ProbeSample,
    outline: &ProbeOutline,
    size: ScreenSize,
) -> Vec<String> {
    let unknown = in_one_line(UNKNOWN_YET, size.columns);
    let mut lines = vec![
        first_line(started, sample, running(outline), size.columns),
        in_one_line(&speed(outline), size.columns),
        format!("{DOUBTFUL}{unknown}{DOUBTFUL:#}"),
    ];
    add_tables(&mut lines, &[processes(outline, When::Live)], size);
    if with_gpu(outline).next().is_none() {
        lines.push(String::new());
        lines.push(format!("{FAINT}no process with the CUDA driver yet{FAINT:#}"));
    }
    lines
}

/// Returns an interval in one line, without its time.
pub(super) fn line(outline: &ProbeOutline) -> String {
    let processes = several(running(outline) as u64, "process", "processes");
    format!("{processes}, {}; {UNKNOWN_YET}", speed(outline))
}

/// Returns all of the summary but its first line.
pub(super) fn summary(outline: &ProbeOutline, started: &ProbeStarted, columns: usize) -> String {
    let head = format!("{}\n{DOUBTFUL}{UNKNOWN}{DOUBTFUL:#}\n", counts(outline));
    let lost = (outline.lost_events > 0).then(|| lost(outline));
    let left_out = outline
        .left_out
        .and_then(|counts| left_out(&counts, Calls::NotObserved));
    let notes = remarks(left_out.into_iter().chain(lost).collect(), started);
    fitted(&head, columns) + &section(&processes(outline, When::Final), ROWS, columns) + &fitted(&notes, columns)
}

/// Returns `3 processes, 1 seen with the CUDA driver, 1,234 submissions counted.`
pub(crate) fn counts(outline: &ProbeOutline) -> String {
    let with_driver = outline.processes.iter().filter(|process| process.driver).count() as u64;
    let text = listed([
        Some(several(outline.processes_seen, "process", "processes")),
        Some(match with_driver {
            0 => "none seen with the CUDA driver".to_owned(),
            some => format!("{} seen with the CUDA driver", count(some)),
        }),
        outline
            .submissions
            .map(|submissions| format!("{} counted", several(submissions, "submission", "submissions"))),
    ]);
    format!("{text}.")
}

/// Returns what the kernel's records lack.
pub(crate) fn lost(outline: &ProbeOutline) -> String {
    let lost = several(outline.lost_events, "record was", "records were");
    format!("{lost} lost, so processes may be missing")
}

/// Returns what a process submitted: `1,234`, or `not counted`.
pub(crate) fn submissions(process: &OutlinedProcess) -> String {
    process.submissions.map_or_else(|| "not counted".to_owned(), count)
}

/// Returns whether a process was seen with the driver.
pub(crate) fn driver(process: &OutlinedProcess) -> &'static str {
    if process.driver { "loaded" } else { "not seen" }
}

/// Returns the processes that have to do with a GPU. Shells and tools around them would fill the
/// table.
pub(crate) fn with_gpu(outline: &ProbeOutline) -> impl Iterator<Item = &OutlinedProcess> {
    let processes = outline.processes.iter();
    processes.filter(|process| process.driver || process.submissions.is_some())
}

fn speed(outline: &ProbeOutline) -> String {
    match outline.submissions_per_second {
        Some(submissions) => format!("{} submissions/s", rate_in_words(submissions)),
        None => "no submissions counted".to_owned(),
    }
}

fn running(outline: &ProbeOutline) -> usize {
    outline.processes.iter().filter(|process| process.running).count()
}

fn processes(outline: &ProbeOutline, when: When) -> Grid {
    let mut grid = Grid::new(
        "process",
        [
            ("pid", Room::From(USUAL)),
            ("time", Room::From(USUAL)),
            ("CUDA driver", Room::Any),
            ("submissions", Room::Any),
        ],
    );
    for process in with_gpu(outline) {
        let name = process.program.as_deref().unwrap_or("(unknown program)");
        let (name, style) = name_when(name, process.running, when);
        let cells = [
            process.pid.to_string(),
            age(process.seen_ns),
            driver(process).to_owned(),
            submissions(process),
        ];
        grid.styled_row(&name, style, cells);
    }
    grid
}
