//! Histories for people: a line for each run of a case.

use anstyle::Style;

use super::case_name::in_form;
use crate::broker::cases::Naming;
use gpubench_contract::units::{counted, listed, percent, size};
use gpubench_contract::{BenchmarkHistory, DeviceIdentity, Flush, HistoryRun, Revision};
use gpubench_diagnostic::layout::{fitted, unbroken};
use gpubench_diagnostic::printable_line;

const TITLE: Style = Style::new().bold();
const FAINT: Style = Style::new().dimmed();

/// The latest runs are all shown; of earlier ones only jumps.
const LATEST: usize = 20;
/// A date and the time of day, to the minute, in a time of RFC 3339.
const MINUTE: usize = 16;
/// A change counts as a jump from here on where the history does not say what is usual.
const NOTABLE: f64 = 0.05;
/// Smaller changes are no jumps, however steady a history is.
const LEAST: f64 = 0.01;

/// The histories of a device as a page of `line` columns. It holds ANSI styles; the stream it is
/// written to decides whether they are kept.
pub(super) fn page(device: &DeviceIdentity, histories: &[BenchmarkHistory], naming: Naming, line: usize) -> String {
    let mut page = format!("{TITLE}{}{TITLE:#}\n", described(device));
    for history in histories {
        page.push('\n');
        page += &section(history, naming);
    }
    fitted(&page, line)
}

/// `NVIDIA H200, 132 multiprocessors, driver 580.159, 120 MiB of cache flushed by reading`.
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
    let name = printable_line(in_form(&history.case, naming));
    let heading = format!(
        "{TITLE}{name}{TITLE:#}  {}, times in UTC",
        counted(history.runs.len(), "run")
    );
    let below = summary(history, first, last);
    let lines = [heading].into_iter().chain(rows(history)).chain([below]);
    lines.map(|said| said + "\n").collect()
}

/// `2026-10-07 13:43  538454127   3.987 µs   +9.53% ▲` for the latest runs and each earlier jump.
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
        rows.insert(0, format!("{FAINT}{left_out} earlier without a jump{FAINT:#}"));
    }
    rows
}

/// Whether a change between neighbouring runs stands out.
pub(super) fn is_jump(history: &BenchmarkHistory, change: f64) -> bool {
    change.abs() > history.usual_change.unwrap_or(NOTABLE).max(LEAST)
}

/// `2026-10-07 13:43`, in UTC.
fn date(run: &HistoryRun) -> String {
    let minute = run.started_at.get(..MINUTE).map(|minute| minute.replace('T', " "));
    printable_line(minute.as_deref().unwrap_or(&run.started_at))
}

fn summary(history: &BenchmarkHistory, first: &HistoryRun, last: &HistoryRun) -> String {
    let change = match history.runs.len() {
        // The row of the second run says it.
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

/// `+8.10%`, `-0.42%`.
fn signed(change: f64) -> String {
    let sign = if change < 0.0 { '-' } else { '+' };
    format!("{sign}{}", percent(change.abs()))
}
