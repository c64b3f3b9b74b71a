//! Histories for people: a plot of each case.

use anstyle::Style;

use super::case_name::in_form;
use super::jump::{Jump, jumps};
use super::plot::plot;
use crate::broker::cases::Naming;
use crate::printable::printable_line;
use crate::report::units::{percent, size};
use crate::report::{BenchmarkHistory, DeviceKind, Flush, HistoryRun, wrapped};
use crate::store::{DeviceIdentity, Revision};

const TITLE: Style = Style::new().bold();
const FAINT: Style = Style::new().dimmed();

/// Lines of a plot.
const ROWS: usize = 5;
/// Columns of a plot at least and at most.
const LEAST_COLUMNS: usize = 20;
const MOST_COLUMNS: usize = 100;
/// Jumps below a plot at most.
const MOST_JUMPS: usize = 3;
/// A date in a time of RFC 3339.
const DATE: usize = 10;

/// The histories of a device as a page of `line` columns. It holds ANSI styles; the stream it is written to decides whether they are kept.
pub(super) fn page(device: &DeviceIdentity, histories: &[BenchmarkHistory], naming: Naming, line: usize) -> String {
    let mut page: String = wrapped(&described(device), line)
        .iter()
        .map(|text| format!("{TITLE}{text}{TITLE:#}\n"))
        .collect();
    for history in histories {
        page.push('\n');
        page += &section(history, naming, line);
    }
    page
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
    let units = match kind {
        DeviceKind::Cpu => "threads",
        DeviceKind::Cuda => "multiprocessors",
    };
    let flushed = flush_bytes.map(|bytes| match (bytes, flush) {
        (0, _) => "caches not flushed".to_owned(),
        (_, Some(Flush::Write)) => format!("{} of cache flushed by writing", size(bytes)),
        (_, Some(Flush::Read)) => format!("{} of cache flushed by reading", size(bytes)),
        (_, None) => format!("{} of cache flushed", size(bytes)),
    });
    let known = [
        Some(printable_line(name)),
        multiprocessors.map(|count| format!("{count} {units}")),
        driver
            .as_ref()
            .map(|driver| format!("driver {}", printable_line(driver))),
        flushed,
    ];
    known.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn section(history: &BenchmarkHistory, naming: Naming, line: usize) -> String {
    let values: Vec<f64> = history.runs.iter().map(|run| run.value).collect();
    let metric = &history.metric;
    let (Some(first), Some(last)) = (history.runs.first(), history.runs.last()) else {
        return String::new();
    };
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(0.0, f64::max);
    let labels = [high, low].map(|value| metric.quantity(value).to_string());
    let [high_label, low_label] = labels.each_ref().map(String::as_str);
    let room = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0) + 1;
    let columns = line.saturating_sub(room + 2).clamp(LEAST_COLUMNS, MOST_COLUMNS);
    let mut text: String = wrapped(
        &format!(
            "{TITLE}{}{TITLE:#}  {}",
            printable_line(in_form(&history.case, naming)),
            runs_of(history)
        ),
        line,
    )
    .iter()
    .map(|line| format!("{line}\n"))
    .collect();
    for (row, dots) in plot(&values, columns, ROWS).iter().enumerate() {
        let (label, tick) = match row {
            row if low == high => (if row == ROWS / 2 { low_label } else { "" }, '│'),
            0 => (high_label, '┤'),
            row if row + 1 == ROWS => (low_label, '┤'),
            _ => ("", '│'),
        };
        text += format!("{label:>room$}{FAINT}{tick}{FAINT:#}{dots}").trim_end();
        text.push('\n');
    }
    text += &dates(first, last, room, columns);
    let below = format!("{}{}", summary(history, first, last), said_of_jumps(history));
    let indent = " ".repeat(room + 1);
    let beside = line.saturating_sub(indent.len()).max(LEAST_COLUMNS);
    let lines = below.lines().flat_map(|said| wrapped(said, beside));
    text + &lines.map(|said| format!("{indent}{said}\n")).collect::<String>()
}

fn runs_of(history: &BenchmarkHistory) -> String {
    match history.runs.len() {
        1 => "1 run".to_owned(),
        runs => format!("{runs} runs"),
    }
}

/// The days of the first and the last run below their ends of the plot.
fn dates(first: &HistoryRun, last: &HistoryRun, room: usize, columns: usize) -> String {
    let (from, to) = (date(first), date(last));
    let gap = (columns + 1).saturating_sub(from.len() + to.len() + 1);
    let between = if from == to {
        String::new()
    } else {
        format!("{}{to}", " ".repeat(gap.max(1)))
    };
    format!("{:room$} {FAINT}{from}{between}{FAINT:#}\n", "")
}

fn date(run: &HistoryRun) -> String {
    printable_line(run.started_at.get(..DATE).unwrap_or(&run.started_at))
}

fn summary(history: &BenchmarkHistory, first: &HistoryRun, last: &HistoryRun) -> String {
    let change = match history.runs.len() {
        1 => String::new(),
        _ => format!(" ({})", signed(last.value / first.value - 1.0)),
    };
    let usual = match history.usual_change {
        Some(usual) => format!("; up to ±{} between runs is usual", percent(usual)),
        None => String::new(),
    };
    let [first, last] = [first.value, last.value].map(|value| history.metric.quantity(value));
    format!("first {first}, last {last}{change}{usual}\n")
}

fn said_of_jumps(history: &BenchmarkHistory) -> String {
    let short = |revision: &Revision| printable_line(&revision.short());
    let said = |jump: &Jump<'_>| {
        let day = date(jump.to);
        let where_it_is = match (&jump.from.revision, &jump.to.revision) {
            (Some(from), Some(to)) if from == to => format!(" within {}", short(to)),
            (Some(from), Some(to)) => format!(" at {}, after {}", short(to), short(from)),
            (None, Some(to)) => format!(" at {}", short(to)),
            (_, None) => String::new(),
        };
        format!("{} on {day}{where_it_is}\n", signed(jump.change))
    };
    jumps(history, MOST_JUMPS).iter().map(said).collect()
}

/// `+8.10%`, `-0.42%`.
fn signed(change: f64) -> String {
    let sign = if change < 0.0 { '-' } else { '+' };
    format!("{sign}{}", percent(change.abs()))
}
