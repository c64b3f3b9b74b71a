//! The roofline of the cases: Williams, Waterman and Patterson, "Roofline: an insightful visual
//! performance model for multicore architectures", Communications of the ACM 52 (2009).

use super::attention::positions;
use super::markup::scrolled;
use super::markup::{self, Element, Markup, cell, element, folded, folded_cases, row_heading, text};
use super::names::{Anchor, case_name};
use super::roofline_chart::{NARROW, WIDE, chart};
use super::roofline_model::Roofline;
use crate::wording::three_digits;
use gpubench_contract::units::{byte_rate, counted, flop_rate, percent};
use gpubench_contract::{BenchmarkComplete, Verdict};
use gpubench_store::StoredRun;

/// Returns the section. `None` if no case declares bytes or operations.
pub(super) fn section(run: &StoredRun) -> Option<Element> {
    let declares = |result: &BenchmarkComplete| {
        result
            .throughput
            .bytes_per_s
            .or(result.throughput.flops_per_s)
            .is_some()
    };
    if !run.results.iter().any(declares) {
        return None;
    }
    let content = match Roofline::from_run(run) {
        Some(roofline) => drawn(run, &roofline),
        None => Markup::from(
            element("p")
                .class("quiet")
                .text("No case that passed declares both bytes and floating-point operations."),
        ),
    };
    Some(markup::section("roofline", "Roofline").child(content))
}

fn drawn(run: &StoredRun, roofline: &Roofline<'_>) -> Markup {
    let notice = run
        .run
        .device
        .kind
        .words()
        .unverified
        .map(|notice| format!(" {notice}"));
    let caption = format!(
        "Compute rate by declared FLOP per declared byte, with logarithmic axes. Bandwidth: {}. Compute: {}. Solid lines are peaks of the device. Dashed lines are the best rates of this run, which the device may exceed.{}",
        roofline.bandwidth.named(byte_rate),
        roofline.compute.named(flop_rate),
        notice.unwrap_or_default()
    );
    let figure = element("figure")
        .class("roofline")
        .child(chart(roofline, WIDE))
        .child(chart(roofline, NARROW))
        .child(element("figcaption").text(caption));
    let points = counted(roofline.points.len(), "case");
    let points = folded(format_args!("Values of the points: {points}")).child(table(roofline));
    Markup::from(figure).then(points).then(not_shown(run, roofline))
}

fn table(roofline: &Roofline<'_>) -> Element {
    let columns = [
        ("#", "number"),
        ("case", "case"),
        ("FLOP/B", "number"),
        ("compute", "number wide"),
        ("of the roof", "number"),
        ("below", ""),
    ];
    let rows = (1..).zip(&roofline.points).map(|(number, point)| {
        let roof = roofline.lowest_roof(point.intensity);
        let figures = [
            (three_digits(point.intensity), "number"),
            (flop_rate(point.rate).to_string(), "number wide"),
            (percent(point.rate / roof.rate), "number"),
        ];
        element("tr")
            .child(cell("number").text(number))
            .child(row_heading(point.anchor.link(case_name(point.result))))
            .children(figures.map(|(figure, class)| cell(class).text(figure)))
            .child(element("td").text(roof.name))
    });
    let caption = "Cases in the roofline, with the roof that limits each";
    let table = markup::table(caption, columns).child(element("tbody").children(rows));
    scrolled("Roofline", table)
}

/// Returns the cases that passed but are not in the chart.
fn not_shown(run: &StoredRun, roofline: &Roofline<'_>) -> Option<Element> {
    let shown = |anchor: Anchor| roofline.points.iter().any(|point| point.anchor == anchor);
    let missing = positions(run)
        .filter(|(anchor, result)| result.verdict == Verdict::Pass && !shown(*anchor))
        .map(|(anchor, result)| {
            let why = match (result.throughput.bytes_per_s, result.throughput.flops_per_s) {
                (Some(_), _) => " declares no floating-point operations",
                (None, Some(_)) => " declares no bytes",
                (None, None) => " declares no work",
            };
            element("li").child(anchor.link(case_name(result))).child(text(why))
        });
    folded_cases("Not shown", missing.collect())
}
