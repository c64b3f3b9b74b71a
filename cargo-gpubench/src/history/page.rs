//! Histories for people: one line per run of a case.

use std::collections::BTreeSet;

use anstyle::Style;

use super::case_name::in_form;
use super::trend::GPU;
use crate::broker::cases::Naming;
use gpubench_contract::units::{counted, listed, percent, size};
use gpubench_contract::{
    BenchmarkHistory, ChangeOrigin, ChangeVerdict, DeviceIdentity, Flush, HistoryChange, HistoryRun, KnownBreak,
    Reading, Revision, short_revision,
};
use gpubench_diagnostic::layout::{fitted, unbroken};
use gpubench_diagnostic::printable_line;

const TITLE: Style = Style::new().bold();
const FAINT: Style = Style::new().dimmed();

/// The number of latest runs that are all shown. Of earlier runs, only changes are shown.
const LATEST: usize = 20;
/// Length of the date and the time to the minute in an RFC 3339 time.
const MINUTE: usize = 16;
/// The characters of a UUID that are shown: `GPU-5be1c0de`.
const OF_UUID: usize = 12;

/// Returns the histories of a device as a page of `line` columns with ANSI styles. The output
/// stream decides whether to keep the styles.
pub(super) fn page(device: &DeviceIdentity, histories: &[BenchmarkHistory], naming: Naming, line: usize) -> String {
    let mut page = format!("{TITLE}{}{TITLE:#}\n", described(device));
    let gpus: BTreeSet<_> = histories.iter().map(|history| &history.gpu).collect();
    for history in histories {
        page.push('\n');
        page += &section(history, naming, gpus.len());
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

fn section(history: &BenchmarkHistory, naming: Naming, gpus: usize) -> String {
    let (Some(first), Some(last)) = (history.runs.first(), history.runs.last()) else {
        return String::new();
    };
    let reading = Reading::new(history.mode, &history.metric);
    let name = printable_line(&reading.label(in_form(&history.case, naming)));
    let gpu = match &history.gpu {
        Some(uuid) if gpus > 1 => format!(" on {}", short(uuid)),
        None if gpus > 1 => " on an unknown GPU".to_owned(),
        _ => String::new(),
    };
    let heading = format!(
        "{TITLE}{name}{TITLE:#}  {}{gpu}, times in UTC",
        counted(history.runs.len(), "run")
    );
    let known_break = history.known_break.as_ref().map(break_line);
    let below = summary(history, first, last);
    let confirmed = history.changes.iter().filter_map(|change| confirmed(history, change));
    let lines = [heading]
        .into_iter()
        .chain(known_break)
        .chain(rows(history))
        .chain([below]);
    lines.chain(confirmed).map(|line| line + "\n").collect()
}

fn short(uuid: &str) -> String {
    printable_line(&uuid.chars().take(OF_UUID).collect::<String>())
}

/// Returns `known break: driver 580.1 became 590.2; level +1.20%, its twin +1.10%`.
fn break_line(known: &KnownBreak) -> String {
    let value = |value: &str| match value {
        "" => "unknown".to_owned(),
        uuid if known.what == GPU => short(uuid),
        value => printable_line(value),
    };
    let twin = known.drift.map(|drift| format!(", its twin {}", signed(drift - 1.0)));
    format!(
        "{FAINT}known break: {} {} became {}; level {}{}{FAINT:#}",
        known.what,
        value(&known.from),
        value(&known.to),
        signed(known.ratio - 1.0),
        twin.unwrap_or_default()
    )
}

/// Returns rows such as `2026-10-07 13:43  538454127   3.987 µs   +9.53%  ▲ +9.10% from here on`
/// for the latest runs and each earlier change of level.
fn rows(history: &BenchmarkHistory) -> Vec<String> {
    let earlier = history.runs.len().saturating_sub(LATEST);
    let row = |(position, run): (usize, &HistoryRun)| {
        let change = history.changes.iter().find(|change| change.run == position as u64);
        if position < earlier && change.is_none() {
            return None;
        }
        let before = position.checked_sub(1).map(|before| &history.runs[before]);
        let step = before.map(|before| run.value / before.value - 1.0);
        let step = step.filter(|step| step.is_finite()).map(signed).unwrap_or_default();
        let sources = run.revision.as_ref().map(Revision::short);
        let figures = format!(
            "{}  {:10}  {:>8}  {step:>7}",
            date(run),
            printable_line(sources.as_deref().unwrap_or("-")),
            unbroken(&history.metric.quantity(run.value).to_string())
        );
        Some(match change {
            None => figures.trim_end().to_owned(),
            Some(change) => format!("{figures}  {}", mark(change)),
        })
    };
    let mut rows: Vec<String> = history.runs.iter().enumerate().filter_map(row).collect();
    let left_out = history.runs.len() - rows.len();
    if left_out > 0 {
        rows.insert(
            0,
            format!("{FAINT}{} without a change{FAINT:#}", counted(left_out, "earlier run")),
        );
    }
    rows
}

/// Returns `▲ +9.10% from here on`, or `+5.10%, the machine` if the machine has changed.
fn mark(change: &HistoryChange) -> String {
    let relative = change.after / change.before - 1.0;
    let sign = if relative > 0.0 { '▲' } else { '▼' };
    match change.origin {
        ChangeOrigin::Case => format!("{TITLE}{sign} {} from here on{TITLE:#}", signed(relative)),
        ChangeOrigin::Machine => format!("{FAINT}{}, the machine{FAINT:#}", signed(relative)),
    }
}

/// Returns `confirmed: 538454127 is 9.02% slower than 0b1a…` about a change whose commits were
/// measured alternating.
fn confirmed(history: &BenchmarkHistory, change: &HistoryChange) -> Option<String> {
    let confirmation = change.confirmation.as_ref()?;
    let date = date(history.runs.get(usize::try_from(change.run).ok()?)?);
    let [before, after] = [&change.last_commit_before, &change.first_commit_after].map(|commit| {
        commit
            .as_ref()
            .map_or_else(|| "-".to_owned(), |commit| printable_line(short_revision(commit)))
    });
    let ratio = confirmation.ratio.map(|ratio| format!(", {}", signed(ratio - 1.0)));
    let ratio = ratio.unwrap_or_default();
    Some(match (confirmation.verdict, confirmation.commits) {
        (ChangeVerdict::Regressed | ChangeVerdict::Improved, Some(1)) => {
            format!(
                "{date}: {after} {}{ratio}: it is the guilty commit",
                confirmation.verdict
            )
        }
        (ChangeVerdict::Regressed | ChangeVerdict::Improved, commits) => {
            let among = commits
                .map(|commits| format!(", among {commits} commits"))
                .unwrap_or_default();
            format!(
                "{date}: {} between {before} and {after}{ratio}{among}",
                confirmation.verdict
            )
        }
        (verdict, _) => format!("{date}: not confirmed between {before} and {after}: {verdict}{ratio}"),
    })
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
