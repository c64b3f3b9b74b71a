//! The charts of time and rate over an axis.

use super::markup::{self, Element, Markup, cell, element, folded, list, row_heading, scrolled, span, text};
use super::names::{case_name, name_with_params, name_with_reading};
use super::scaling_chart::{LINES, Shown, drawn, swatch};
use super::scaling_model::{Chart, Clock, Line, Point, charts};
use gpubench_contract::Device;
use gpubench_contract::units::counted;
use gpubench_store::StoredRun;

/// Maximum number of combinations of the other axes that have charts.
const CHARTS: usize = 24;

/// Maximum number of cases without a value that are named below a chart.
const NAMED: usize = 6;

/// Returns the section. `None` if no kernel was measured at two values of an axis.
pub(super) fn section(run: &StoredRun) -> Option<Element> {
    let charts = charts(run);
    if charts.is_empty() {
        return None;
    }
    let remark = element("p").class("quiet").text(
        "One line per kernel, with logarithmic axes and 95% intervals. The interval of a rate is that of its time.",
    );
    let more = charts.len().saturating_sub(CHARTS);
    let more = (more > 0).then(|| {
        let words = format!(
            "{} of other axis values left out; all values are in the table of cases.",
            counted(more, "chart")
        );
        element("p").class("quiet").text(words)
    });
    let drawn = charts.iter().take(CHARTS).map(|chart| part(chart, &run.run.device));
    Some(
        markup::section("scaling", "Over an axis")
            .child(remark)
            .children(drawn)
            .child(more),
    )
}

/// Returns a chart of each quantity, with the names of the lines and all values.
fn part(chart: &Chart<'_>, device: &Device) -> Element {
    let lines = chart.best_lines(LINES);
    let shown = Shown::of(chart);
    let drawings = shown.iter().map(|shown| {
        let peak = match shown {
            Shown::Bytes => device.peak_bandwidth,
            _ => None,
        };
        element("figure").child(drawn(chart, &lines, shown, peak))
    });
    let more = chart.lines.len() - lines.len();
    let more = (more > 0).then(|| {
        let words = format!(
            "The {LINES} best at the largest {} are drawn; {more} more are in the table.",
            chart.axis
        );
        element("p").class("quiet").text(words)
    });
    element("div")
        .class("scaling")
        .child(element("h3").child(name_with_reading(chart.subject, &chart.fixed, &chart.reading)))
        .child(element("div").class("figures").children(drawings))
        .child(names(chart, &lines))
        .child(more)
        .child(without_value(chart))
        .child(values(chart, &shown))
}

/// Returns the names of the lines, unless the heading is the only one's name.
fn names(chart: &Chart<'_>, lines: &[&Line<'_>]) -> Option<Element> {
    let is_in_heading = |line: &Line<'_>| line.benchmark == chart.subject && line.own.0.is_empty();
    if matches!(lines, [only] if is_in_heading(only)) {
        return None;
    }
    let item = |(number, line): (usize, &&Line<'_>)| element("li").child(swatch(number)).text(" ").child(name(line));
    list("lines", lines.iter().enumerate().map(item))
}

fn name(line: &Line<'_>) -> Markup {
    let clock = match line.clock {
        Clock::Device => None,
        Clock::Host => Some(text(" ").then(span("reading").text("wall time"))),
    };
    name_with_params(line.benchmark, &line.own).then(clock)
}

fn without_value(chart: &Chart<'_>) -> Option<Element> {
    let cases = chart
        .without_value
        .iter()
        .take(NAMED)
        .enumerate()
        .map(|(position, place)| {
            let comma = if position == 0 { "" } else { ", " };
            text(comma)
                .then(place.anchor.link(case_name(place.result)))
                .then(text(format_args!(" ({})", place.result.verdict)))
        });
    let more = chart.without_value.len().saturating_sub(NAMED);
    let more = (more > 0).then(|| text(format_args!(" and {}", counted(more, "more case"))));
    (!chart.without_value.is_empty()).then(|| {
        element("p")
            .class("quiet")
            .text("Without a value: ")
            .children(cases)
            .child(more)
    })
}

/// Returns all values as a table.
fn values(chart: &Chart<'_>, shown: &[Shown]) -> Element {
    let mut points: Vec<(&Line<'_>, &Point<'_>)> = Vec::new();
    for line in &chart.lines {
        points.extend(line.points.iter().map(|point| (line, point)));
    }
    // The sort is stable: lines keep their order at each value.
    points.sort_by(|(_, one), (_, other)| one.place.x.total_cmp(&other.place.x));
    let columns = [("kernel", "case"), (chart.axis, "number")]
        .into_iter()
        .chain(shown.iter().flat_map(|shown| match shown {
            Shown::Value(_) => vec![(shown.title(), "number"), ("95% interval", "number wide")],
            _ => vec![(shown.title(), "number")],
        }));
    let rows = points.iter().map(|(line, point)| {
        element("tr")
            .child(row_heading(point.place.anchor.link(name(line))))
            .child(cell("number").text(point.place.shown))
            .children(shown.iter().map(|shown| cells(shown, point)))
    });
    let summary = format!("Values of the chart: {}", counted(points.len(), "result"));
    let caption = text("Values of ").then(name_with_reading(chart.subject, &chart.fixed, &chart.reading));
    let table = markup::table(caption, columns).child(element("tbody").children(rows));
    folded(summary).child(scrolled("Values over an axis", table))
}

fn cells(shown: &Shown, point: &Point<'_>) -> Markup {
    let (value, interval) = match shown.of_point(point) {
        Some((value, interval)) => (shown.quantity(value).to_string(), interval),
        None => ("–".to_owned(), None),
    };
    let value = cell("number").text(value);
    match shown {
        Shown::Value(metric) => {
            let interval = interval.map_or_else(|| "–".to_owned(), |interval| metric.range(interval));
            Markup::from(value).then(cell("number wide").text(interval))
        }
        _ => value.into(),
    }
}
