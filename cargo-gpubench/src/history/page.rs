//! Histories for people: one line per run of a case.

use anstyle::Style;

use super::case_name::in_form;
use crate::broker::cases::Naming;
use gpubench_contract::units::{counted, listed, percent, size};
use gpubench_contract::{BenchmarkHistory, DeviceIdentity, Flush, HistoryRun, Reading, Revision};
use gpubench_diagnostic::layout::{fitted, unbroken};
use gpubench_diagnostic::printable_line;

const TITLE: Style = Style::new().bold();
const FAINT: Style = Style::new().dimmed();

/// The number of latest runs that are all shown. Of earlier runs, only jumps are shown.
const LATEST: usize = 20;
/// Length of the date and the time to the minute in an RFC 3339 time.
const MINUTE: usize = 16;
/// The smallest change that counts as a jump if the history has no usual change, as a fraction.
const NOTABLE: f64 = 0.05;
/// The smallest change that counts as a jump in any history, as a fraction.
const LEAST: f64 = 0.01;

/// Returns the histories of a device as a page of `line` columns with ANSI styles. The output
/// stream decides whether to keep the styles.
pub(super) fn page(device: &DeviceIdentity, histories: &[BenchmarkHistory], naming: Naming, line: usize) -> String {
    let mut page = format!("{TITLE}{}{TITLE:#}\n", described(device));
    for history in histories {
        page.push('\n');
        page += &section(history, naming);
    }
    fitted(&page, line)
}

/// Returns `NVIDIA H200, 132 multiprocessors, driver 580.159, 120 MiB of cache flushed by reading`.
fn described(device: &DeviceIdentity) -> String {
    let DeviceIdentity {
        kind,
        name,
        multiprocessors,
        driver,
        flush,
        flush_bytes,
        ..
    } = device;
    let flushed = flush_bytes.map(|bytes| match (bytes, flush) {
        (0, _) => "caches not flushed".to_owned(),
        (_, Some(Flush::Write)) => format!("{} of cache flushed by writing", size(bytes)),
        (_, Some(Flush::Read)) => format!("{} of cache flushed by reading", size(bytes)),
        (_, None) => format!("{} of cache flushed", size(bytes)),
    });
    let known = [
        Some(printable_line(name)),
        multiprocessors.map(|count| format!("{count} {}", kind.words().units)),
        driver
            .as_ref()
            .map(|driver| format!("driver {}", printable_line(driver))),
        flushed,
    ];
    listed(known)
}

fn section(history: &BenchmarkHistory, naming: Naming) -> String {
    let (Some(first), Some(last)) = (history.runs.first(), history.runs.last()) else {
        return String::new();
    };
    let reading = Reading::new(history.mode, &history.metric);
    let name = printable_line(&reading.label(in_form(&history.case, naming)));
    let heading = format!(
        "{TITLE}{name}{TITLE:#}  {}, times in UTC",
        counted(history.runs.len(), "run")
    );
    let below = summary(history, first, last);
    let lines = [heading].into_iter().chain(rows(history)).chain([below]);
    lines.map(|line| line + "\n").collect()
}

/// Returns rows such as `2026-10-07 13:43  538454127   3.987 µs   +9.53% ▲` for the latest runs and
/// each earlier jump.
fn rows(history: &BenchmarkHistory) -> Vec<String> {
    let earlier = history.runs.len().saturating_sub(LATEST);
    let row = |(position, run): (usize, &HistoryRun)| {
        let before = position.checked_sub(1).map(|before| &history.runs[before]);
        let change = before.map(|before| run.value / before.value - 1.0);
        let change = change.filter(|change| change.is_finite());
        let jump = change.filter(|change| is_jump(history, *change));
        if position < earlier && jump.is_none() {
            return None;
        }
        let sources = run.revision.as_ref().map(Revision::short);
        let figures = format!(
            "{}  {:10}  {:>8}",
            date(run),
            printable_line(sources.as_deref().unwrap_or("-")),
            unbroken(&history.metric.quantity(run.value).to_string())
        );
        let change = change.map(signed).unwrap_or_default();
        Some(match jump {
            None => format!("{figures}  {change:>7}").trim_end().to_owned(),
            Some(jump) => {
                let mark = if jump > 0.0 { '▲' } else { '▼' };
                format!("{figures}  {TITLE}{change:>7} {mark}{TITLE:#}")
            }
        })
    };
    let mut rows: Vec<String> = history.runs.iter().enumerate().filter_map(row).collect();
    let left_out = history.runs.len() - rows.len();
    if left_out > 0 {
        rows.insert(
            0,
            format!("{FAINT}{} without a jump{FAINT:#}", counted(left_out, "earlier run")),
        );
    }
    rows
}

/// Returns whether a change between neighbouring runs is a jump.
pub(super) fn is_jump(history: &BenchmarkHistory, change: f64) -> bool {
    change.abs() > history.usual_change.unwrap_or(NOTABLE).max(LEAST)
}

/// Returns the time of a run in UTC: `2026-10-07 13:43`.
fn date(run: &HistoryRun) -> String {
    let minute = run.started_at.get(..MINUTE).map(|minute| minute.replace('T', " "));
    printable_line(minute.as_deref().unwrap_or(&run.started_at))
}

fn summary(history: &BenchmarkHistory, first: &HistoryRun, last: &HistoryRun) -> String {
    let change = match history.runs.len() {
        // The row of the second run shows this change.
        1 | 2 => String::new(),
        _ => format!(" ({})", signed(last.value / first.value - 1.0)),
    };
    let usual = match history.usual_change {
        Some(usual) => format!("; changes up to ±{} are usual", percent(usual)),
        None => String::new(),
    };
    let [first, last] = [first.value, last.value].map(|value| history.metric.quantity(value));
    format!("first {first}, last {last}{change}{usual}")
}

/// Returns `+8.10%` or `-0.42%`.
fn signed(change: f64) -> String {
    let sign = if change < 0.0 { '-' } else { '+' };
    format!("{sign}{}", percent(change.abs()))
}
