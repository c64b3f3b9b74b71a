//! The times of the steps of a case's launch plan.

use super::markup::scrolled;
use super::markup::{self, Element, element};
use gpubench_contract::units::{percent, time};
use gpubench_contract::{BenchmarkComplete, Metric, StepTimes};

const COLUMNS: [&str; 5] = ["step", "median", "share", "quartiles", "range"];

/// Returns a row per step. `None` if the steps were not timed one by one.
pub(super) fn table(result: &BenchmarkComplete) -> Option<Element> {
    let sum_ns: f64 = result.steps.iter().map(|step| step.times.median_ns).sum();
    let caption = "Steps of a call, timed one by one in windows of their own";
    let table = markup::table(caption, COLUMNS.map(|title| (title, "")))
        .class("checks")
        .child(element("tbody").children(result.steps.iter().map(|step| row(step, sum_ns))));
    (!result.steps.is_empty()).then(|| scrolled("Steps", table))
}

fn row(step: &StepTimes, sum_ns: f64) -> Element {
    let (times, metric) = (&step.times, Metric::time());
    let cells = [
        time(times.median_ns).to_string(),
        match times.median_ns / sum_ns {
            share if share.is_finite() => percent(share),
            _ => "–".to_owned(),
        },
        metric.range([times.q1_ns, times.q3_ns]),
        metric.range([times.min_ns, times.max_ns]),
    ];
    element("tr")
        .child(element("th").with("scope", "row").child(super::names::name(&step.step)))
        .children(cells.map(|cell| element("td").text(cell)))
}
