//! The comparison with a baseline: changes, their size and their confidence.

use std::collections::BTreeMap;

use super::forest::Forest;
use super::markup::scrolled;
use super::markup::{
    self, Element, Markup, cell, element, folded, folded_cases, list, note, prose, row_heading, span, text,
};
use super::names::{Anchor, marked, moment, name_with_reading, revision};
use crate::wording::{
    change_sign, function_change, further_functions, interval, lower_and_higher, machine_code_change, metric_of,
    one_run, shown_machine_code,
};
use gpubench_contract::units::{change, counted, listed, percent};
use gpubench_contract::{
    Arrangement, Change, ChangeVerdict, ComparedResult, ComparedRun, ComparisonComplete, ComparisonRow, Metric,
    UNKNOWN_REVISION,
};
use gpubench_store::StoredRun;

/// Returns the section of the comparison at `position`.
pub(super) fn section(run: &StoredRun, comparison: &ComparisonComplete, position: usize) -> Element {
    let forest = Forest::new(comparison);
    let (unchanged, shown): (Vec<_>, Vec<_>) = comparison
        .by_relevance()
        .into_iter()
        .partition(|row| row.verdict.is_quiet());
    let named = |what: &str| format!("{what} against {}", short_name(comparison));
    let table_of = |caption: String, rows: &[&ComparisonRow]| {
        (!rows.is_empty()).then(|| scrolled(&caption, table(run, &caption, rows, &forest)))
    };
    let folded = table_of(named("Unchanged"), &unchanged)
        .map(|table| folded(format_args!("{} unchanged", counted(unchanged.len(), "case"))).child(table));
    let heading = text("Compared with ").then(span("isolated").text(short_name(comparison)));
    markup::section(&anchor(position), heading)
        .child(counts(comparison))
        .child(sides(comparison))
        .child(one_run(comparison).map(|remark| note("p").child(prose(remark))))
        .child(differences(comparison))
        .child(table_of(named("Changes"), &shown))
        .child(folded)
        .child(one_sided("Only in this run", &comparison.new))
        .child(one_sided("Only in the baseline", &comparison.removed))
}

/// Returns the baseline's name. For a file, without its folders.
pub(super) fn short_name(comparison: &ComparisonComplete) -> &str {
    let name = &comparison.baseline.name;
    name.rsplit('/').next().filter(|last| !last.is_empty()).unwrap_or(name)
}

/// Returns the anchor of a comparison's section.
pub(super) fn anchor(position: usize) -> String {
    format!("comparison-{position}")
}

/// Returns the name of a row. It links to the case's section if the page shows the candidate.
pub(super) fn linked_name(run: &StoredRun, row: &ComparisonRow) -> Markup {
    let name = name_with_reading(&row.benchmark, &row.params, &row.reading());
    match run.results.iter().position(|result| row.is_of(result)) {
        Some(position) => Anchor(position).link(name).into(),
        None => name,
    }
}

/// Returns a verdict's sign and word.
pub(super) fn mark(verdict: ChangeVerdict) -> Element {
    let class = match verdict {
        ChangeVerdict::NowFails | ChangeVerdict::Regressed => "mark bad",
        ChangeVerdict::Improved => "mark good",
        ChangeVerdict::Inconclusive | ChangeVerdict::NotCompared => "mark doubtful",
        ChangeVerdict::WithinNoise | ChangeVerdict::NoChange => "mark plain",
    };
    marked(class, change_sign(verdict), verdict)
}

fn counts(comparison: &ComparisonComplete) -> Element {
    let counted = ChangeVerdict::ALL.iter().filter_map(|verdict| {
        let count = comparison.count(*verdict);
        (count > 0).then(|| {
            let count = element("b").text(count);
            Markup::from(span("count").child(count).text(" ").child(mark(*verdict))).then(text(" "))
        })
    });
    element("p").class("outcome small").children(counted)
}

/// Returns which runs are compared, and how they were measured.
fn sides(comparison: &ComparisonComplete) -> Element {
    let arrangement = match comparison.arrangement {
        Arrangement::Apart => {
            "Measured one after the other. Changes are judged after correction for the drift of the machine."
        }
        Arrangement::Interleaved => "Measured in alternating windows on one device, so drift affects both equally.",
    };
    let metric = metric_of(comparison);
    let change = comparison.rows.iter().find_map(|row| row.change.as_ref());
    let intervals = change.map(|change| {
        text(format_args!(
            " Ratios are this run's {} divided by the baseline's; above 1 is {}. Lines are {} intervals. Changes inside the band count as noise.",
            metric.name, lower_and_higher(&metric)[1], confidence(change)
        ))
    });
    element("p")
        .class("quiet")
        .text(format_args!("Baseline {}: ", comparison.baseline.name))
        .child(side(&comparison.baseline))
        .text(". This run: ")
        .child(side(&comparison.candidate))
        .text(format_args!(". {arrangement}"))
        .child(intervals)
}

fn side(run: &ComparedRun) -> Element {
    let revision = run
        .revision
        .as_ref()
        .map_or_else(|| UNKNOWN_REVISION.to_owned(), revision);
    let known = listed([Some(revision), Some(run.device.name.clone())]);
    span("isolated")
        .child(moment(&run.started_at))
        .text(format_args!(", {known}"))
}

/// `99%`.
fn confidence(change: &Change) -> String {
    format!("{}%", (change.confidence * 1e4).round() / 100.0)
}

fn differences(comparison: &ComparisonComplete) -> Option<Element> {
    let lines = comparison.differences.iter();
    let lines = list("", lines.map(|difference| element("li").text(difference)))?;
    let title = element("p").text("The two runs differ:");
    Some(note("div").child(title).child(lines))
}

fn one_sided(title: &str, names: &[String]) -> Option<Element> {
    let lines = names.iter().map(|name| element("li").child(super::names::name(name)));
    folded_cases(title, lines.collect())
}

/// Columns of the table.
const COLUMNS: usize = 6;

/// Minimum number of rows with the same remark for which the remark is printed once, above the
/// table.
const MANY: usize = 4;

/// Returns the table, with the shared remark above it.
fn table(run: &StoredRun, caption: &str, rows: &[&ComparisonRow], forest: &Forest) -> Element {
    let shared = shared_remark(rows);
    let caption = text(caption).then(shared.map(|(remark, count)| {
        let shared = format!(" {}: {remark}", counted(count, "case"));
        span("share").child(prose(shared))
    }));
    let shared = shared.map(|(remark, _)| remark);
    let change = element("div")
        .class("change")
        .child(element("span").text("change"))
        .child(forest.axis());
    let columns: [(Markup, _); COLUMNS] = [
        ("case".into(), "case"),
        ("verdict".into(), "verdict"),
        ("baseline".into(), "number wide"),
        ("this run".into(), "number wide"),
        (change.into(), ""),
        ("noise".into(), "number wide"),
    ];
    markup::table(caption, columns)
        .class("comparison")
        .child(element("tbody").children(rows.iter().map(|row| line(run, row, forest, shared))))
}

/// Returns the most frequent remark and its number of rows.
fn shared_remark<'a>(rows: &[&'a ComparisonRow]) -> Option<(&'a str, usize)> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for remark in rows.iter().filter_map(|row| row.remark.as_deref()) {
        *counts.entry(remark).or_default() += 1;
    }
    counts
        .into_iter()
        .max_by_key(|(_, count)| *count)
        .filter(|(_, count)| *count >= MANY)
}

/// Returns a row, and a second one for remarks other than `shared`.
fn line(run: &StoredRun, row: &ComparisonRow, forest: &Forest, shared: Option<&str>) -> Markup {
    let below = below(row, shared);
    let value = |side: &ComparedResult| cell("number wide").text(shown(&row.metric, side.value));
    let change = row.change.as_ref().map(|change| {
        element("div")
            .class("change")
            .child(element("span").child(figures(change)))
            .child(forest.line(change, row.verdict))
    });
    let figures = element("tr")
        .class(if below.is_none() { "plain" } else { "remarked" })
        .child(row_heading(linked_name(run, row)))
        .child(cell("verdict").child(mark(row.verdict)))
        .child(value(&row.baseline))
        .child(value(&row.candidate))
        .child(element("td").child(change))
        .child(cell("number wide").child(row.change.as_ref().map(threshold)));
    Markup::from(figures).then(below)
}

/// Returns the row below the figures: remarks, and the functions whose counts changed. `None` if
/// there is nothing to say.
fn below(row: &ComparisonRow, shared: Option<&str>) -> Option<Element> {
    let remarks = remarks(row, shared);
    let (largest, more) = row.largest_functions();
    let functions = largest.iter().map(function_change).chain(further_functions(more));
    let functions = functions.chain(shown_machine_code(row).map(machine_code_change));
    let functions = list("plain-list", functions.map(|function| element("li").text(function)));
    (!remarks.is_empty() || functions.is_some()).then(|| {
        let cell = cell("remark").with("colspan", COLUMNS).child(prose(remarks.join("; ")));
        element("tr").child(cell.child(functions))
    })
}

/// Returns the baseline's name for the case, if it differs, and the remark.
fn remarks(row: &ComparisonRow, shared: Option<&str>) -> Vec<String> {
    let renamed = (row.case != row.baseline_case).then(|| format!("against {}", row.baseline_case));
    let own = row.remark.as_deref().filter(|remark| Some(*remark) != shared);
    renamed.into_iter().chain(own.map(str::to_owned)).collect()
}

fn shown(metric: &Metric, value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| metric.quantity(value).to_string())
}

fn figures(figures: &Change) -> Markup {
    let interval = interval(figures.interval);
    let drift = figures.drift.map(|drift| format!(", drift {}", change(drift)));
    let details = format!(" {interval}{}", drift.unwrap_or_default());
    Markup::from(element("b").text(change(figures.ratio))).then(span("share").text(details))
}

fn threshold(change: &Change) -> Markup {
    let source = format!(" {}", change.threshold_source.as_str());
    text(format_args!("±{}", percent(change.threshold))).then(span("share").text(source))
}
