//! The table of all cases. A narrow screen hides columns, as a narrow terminal does. The section of
//! a case has all values.

use std::collections::HashSet;

use super::attention::{outcome, positions};
use super::distribution::strip;
use super::markup::{self, Element, Markup, cell, element, prose, row_heading, scrolled, span, text};
use super::names::{Anchor, case_name, grade, name, name_with_params, verdict};
use gpubench_contract::units::{byte_rate, counted, flop_rate, listed, percent};
use gpubench_contract::{BenchmarkComplete, CaseKey, Readings, Stats, Verdict};
use gpubench_store::StoredRun;

/// Placeholder for the title with the metric's name.
const VALUE: &str = "value";

/// The column of modes, after that of the cases. Only runs with several readings have it.
const MODE: (&str, &str) = ("mode", "mode");

/// A column: its title, and the class for its alignment and for the screens that hide it.
const COLUMNS: [(&str, &str); 12] = [
    ("case", "case"),
    ("verdict", "verdict"),
    ("samples", "wide"),
    (VALUE, "number"),
    ("± 95%", "number"),
    ("cv", "number wide"),
    ("n", "number wider"),
    ("bandwidth", "number wide"),
    ("of peak", "number wide"),
    ("compute", "number wide"),
    ("of peak", "number wider"),
    ("grade", "grade"),
];

/// Returns the section.
pub(super) fn section(run: &StoredRun) -> Element {
    let metric = run.results.first().map_or("time", |result| &result.metric.name);
    let readings: Readings = run.results.iter().map(BenchmarkComplete::reading).collect();
    let columns = COLUMNS.map(|(title, class)| (if title == VALUE { metric } else { title }, class));
    let mut columns = columns.to_vec();
    columns.splice(1..1, readings.differ().then_some(MODE));
    let caption = format!(
        "{}: {metric} ± half the width of its 95% interval, for cases that passed",
        cases_and_results(run)
    );
    let bodies = bodies(run, &readings);
    let table = markup::table(&*caption, columns).class("cases").children(bodies);
    markup::section("cases", "Cases").child(scrolled("Cases", table))
}

/// Returns a table body per package. If there are several packages, each body starts with the
/// package's name.
fn bodies(run: &StoredRun, readings: &Readings) -> Vec<Element> {
    let results: Vec<(Anchor, &BenchmarkComplete)> = positions(run).collect();
    let packages = results.chunk_by(|(_, one), (_, next)| one.package == next.package);
    let bodies = packages.map(|cases| {
        let heading = (cases.len() < results.len()).then(|| package_heading(&cases[0].1.package, readings));
        let rows = cases.iter().map(|(anchor, result)| row(*anchor, result, readings));
        element("tbody").child(heading).children(rows)
    });
    bodies.collect()
}

fn package_heading(package: &str, readings: &Readings) -> Element {
    let heading = element("th")
        .with("scope", "rowgroup")
        .with("colspan", COLUMNS.len() + usize::from(readings.differ()))
        .child(name(package));
    element("tr").class("package").child(heading)
}

/// Returns `6 cases`, or `6 cases, 12 results` if a case has several.
fn cases_and_results(run: &StoredRun) -> String {
    let cases: HashSet<CaseKey> = run.results.iter().map(|result| result.key().case).collect();
    let results = run.results.len();
    let results = (results != cases.len()).then(|| counted(results, "result"));
    listed([Some(counted(cases.len(), "case")), results])
}

fn row(anchor: Anchor, result: &BenchmarkComplete, readings: &Readings) -> Element {
    let name = if readings.differ() {
        name_with_params(&result.benchmark, &result.params)
    } else {
        case_name(result)
    };
    let mode = readings.differ().then(|| cell(MODE.1).text(result.reading()));
    let row = element("tr").child(row_heading(anchor.link(name))).child(mode);
    match (&result.stats, result.verdict) {
        (Some(stats), Verdict::Pass) => row.children(figures(result, stats)),
        _ => row.child(element("td").with("colspan", COLUMNS.len() - 1).child(reason(result))),
    }
}

/// Returns the text in place of values that a verdict makes meaningless.
fn reason(result: &BenchmarkComplete) -> Markup {
    let skipped = result.message.as_ref().filter(|_| result.verdict == Verdict::Skipped);
    Markup::from(outcome(result)).then(skipped.map(|message| span("quiet").child(prose(format_args!(" {message}")))))
}

fn figures(result: &BenchmarkComplete, stats: &Stats) -> Vec<Element> {
    // One sample has no spread.
    let interval = stats.relative_interval().filter(|_| stats.n > 1);
    let throughput = &result.throughput;
    let cells: [Markup; COLUMNS.len() - 1] = [
        verdict(result.verdict).into(),
        strip(&result.samples).into(),
        element("b").text(result.metric.quantity(stats.value)).into(),
        known(interval.map(|share| format!("±{}", percent(share)))),
        known(stats.cv.map(percent)),
        text(stats.n),
        known(throughput.bytes_per_s.map(|rate| byte_rate(rate).to_string())),
        known(throughput.of_peak_bandwidth.map(percent)),
        known(throughput.flops_per_s.map(|rate| flop_rate(rate).to_string())),
        known(throughput.of_peak_flops.map(percent)),
        result.grade.map(grade).into(),
    ];
    cells
        .into_iter()
        .zip(&COLUMNS[1..])
        .map(|(content, (_, class))| cell(class).child(content))
        .collect()
}

fn known(value: Option<String>) -> Markup {
    match value {
        Some(value) => text(value),
        None => span("quiet").text("–").into(),
    }
}
