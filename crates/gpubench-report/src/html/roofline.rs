//! The roofline of the cases: Williams, Waterman and Patterson, "Roofline: an insightful visual
//! performance model for multicore architectures", Communications of the ACM 52 (2009).

use super::attention::positions;
use super::cases::scrolled;
use super::markup::{self, Element, Markup, cell, element, folded, folded_cases, row_heading, text};
use super::names::{Anchor, case_name};
use super::roofline_chart::{NARROW, WIDE, chart};
use crate::wording::three_digits;
use gpubench_contract::units::{byte_rate, counted, flop_rate, percent};
use gpubench_contract::{BenchmarkComplete, Throughput, Verdict};
use gpubench_store::StoredRun;

/// A roof, and its source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Roof {
    /// The device's peak.
    Peak(f64),
    /// The best rate of a case in this run. The device may be capable of more.
    BestHere(f64),
}

impl Roof {
    fn new(peak: Option<f64>, achieved: impl Iterator<Item = f64>) -> Option<Roof> {
        let positive = |rate: &f64| rate.is_finite() && *rate > 0.0;
        let best = achieved.filter(positive).reduce(f64::max);
        peak.filter(positive).map(Roof::Peak).or(best.map(Roof::BestHere))
    }

    /// Returns the rate.
    pub(super) fn rate(self) -> f64 {
        match self {
            Roof::Peak(rate) | Roof::BestHere(rate) => rate,
        }
    }

    /// `peak 4.800 TB/s`.
    pub(super) fn named(self, unit: impl Fn(f64) -> gpubench_contract::units::Quantity) -> String {
        match self {
            Roof::Peak(rate) => format!("peak {}", unit(rate)),
            Roof::BestHere(rate) => format!("best in this run {}", unit(rate)),
        }
    }
}

/// A case that declares both bytes and operations.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point<'a> {
    /// The case.
    pub(super) result: &'a BenchmarkComplete,
    anchor: Anchor,
    /// Declared floating-point operations per declared byte.
    pub(super) intensity: f64,
    /// Floating-point operations per second.
    pub(super) rate: f64,
}

/// The maximum rate at an intensity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ceiling {
    /// Roof.
    pub(super) name: &'static str,
    /// Floating-point operations per second.
    pub(super) rate: f64,
}

/// The cases and their roofs.
#[derive(Clone, Debug)]
pub(super) struct Roofline<'a> {
    /// Bytes per second.
    pub(super) bandwidth: Roof,
    /// Floating-point operations per second.
    pub(super) compute: Roof,
    /// Cases in the chart, numbered from 1 in chart and table.
    pub(super) points: Vec<Point<'a>>,
}

/// Returns the highest peak that rates are compared with. The peak depends on a case's element
/// type.
fn highest_peak<'t>(throughputs: impl Iterator<Item = &'t Throughput>) -> Option<f64> {
    let peaks = throughputs.filter_map(|throughput| Some(throughput.flops_per_s? / throughput.of_peak_flops?));
    peaks.filter(|peak| peak.is_finite() && *peak > 0.0).reduce(f64::max)
}

impl<'a> Roofline<'a> {
    /// Returns the roofline of a run. `None` if no case that passed declares both bytes and
    /// operations.
    fn from_run(run: &'a StoredRun) -> Option<Roofline<'a>> {
        let points: Vec<Point<'_>> = positions(run)
            .filter_map(|(anchor, result)| point(anchor, result))
            .collect();
        let passed = || {
            run.results
                .iter()
                .filter(|result| result.verdict == Verdict::Pass)
                .map(|result| &result.throughput)
        };
        let device = &run.run.device;
        Some(Roofline {
            bandwidth: Roof::new(
                device.peak_bandwidth,
                passed().filter_map(|throughput| throughput.bytes_per_s),
            )?,
            compute: Roof::new(
                highest_peak(passed()).or(device.peak_flops),
                passed().filter_map(|throughput| throughput.flops_per_s),
            )?,
            points,
        })
        .filter(|roofline| !roofline.points.is_empty())
    }

    /// Returns the lower roof at an intensity. The best rate of the run counts as a roof only if no
    /// peak is known.
    pub(super) fn lowest_roof(&self, intensity: f64) -> Ceiling {
        let bandwidth = Ceiling {
            name: "bandwidth",
            rate: self.bandwidth.rate() * intensity,
        };
        let compute = Ceiling {
            name: "compute",
            rate: self.compute.rate(),
        };
        match (self.bandwidth, self.compute) {
            (Roof::Peak(_), Roof::BestHere(_)) => bandwidth,
            (Roof::BestHere(_), Roof::Peak(_)) => compute,
            _ if bandwidth.rate < compute.rate => bandwidth,
            _ => compute,
        }
    }

    /// Returns the intensity at which the roofs meet.
    pub(super) fn ridge(&self) -> f64 {
        self.compute.rate() / self.bandwidth.rate()
    }
}

fn point(anchor: Anchor, result: &BenchmarkComplete) -> Option<Point<'_>> {
    let throughput = &result.throughput;
    let (rate, bytes) = (throughput.flops_per_s?, throughput.bytes_per_s?);
    let intensity = rate / bytes;
    let is_drawn = result.verdict == Verdict::Pass
        && [rate, bytes, intensity]
            .iter()
            .all(|value| value.is_finite() && *value > 0.0);
    is_drawn.then_some(Point {
        result,
        anchor,
        intensity,
        rate,
    })
}

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
