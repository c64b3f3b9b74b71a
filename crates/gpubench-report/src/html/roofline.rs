//! The suite's cases under the roofs of the device: Williams, Waterman and Patterson, "Roofline: an
//! insightful visual performance model for multicore architectures", Communications of the ACM 52
//! (2009).

use super::attention::positions;
use super::cases::scrolled;
use super::markup::{self, Element, Markup, cell, element, folded, folded_cases, row_heading, text};
use super::names::{Anchor, case_name};
use super::roofline_chart::{NARROW, WIDE, chart};
use crate::wording::three_digits;
use gpubench_contract::units::{byte_rate, counted, flop_rate, percent};
use gpubench_contract::{BenchmarkComplete, Throughput, Verdict};
use gpubench_store::StoredRun;

/// A limit, and how it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Roof {
    /// The device's peak.
    Peak(f64),
    /// The best that a case of this run achieved: the device may well do better.
    BestHere(f64),
}

impl Roof {
    fn of(peak: Option<f64>, achieved: impl Iterator<Item = f64>) -> Option<Roof> {
        let positive = |rate: &f64| rate.is_finite() && *rate > 0.0;
        let best = achieved.filter(positive).reduce(f64::max);
        peak.filter(positive).map(Roof::Peak).or(best.map(Roof::BestHere))
    }

    /// The limit itself.
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

/// A case with both kinds of work declared.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point<'a> {
    /// The case.
    pub(super) result: &'a BenchmarkComplete,
    anchor: Anchor,
    /// Declared floating-point operations for a declared byte.
    pub(super) intensity: f64,
    /// Floating-point operations per second.
    pub(super) rate: f64,
}

/// The most that a roof allows at one intensity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ceiling {
    /// The roof.
    pub(super) name: &'static str,
    /// Floating-point operations per second.
    pub(super) rate: f64,
}

/// The cases and what limits them.
#[derive(Clone, Debug)]
pub(super) struct Roofline<'a> {
    /// Bytes per second.
    pub(super) bandwidth: Roof,
    /// Floating-point operations per second.
    pub(super) compute: Roof,
    /// The cases that can be drawn, numbered in drawing and table from 1.
    pub(super) points: Vec<Point<'a>>,
}

/// The highest peak that rates are shares of: it depends on the type that a case computes with.
fn highest_peak<'t>(throughputs: impl Iterator<Item = &'t Throughput>) -> Option<f64> {
    let peaks = throughputs.filter_map(|throughput| Some(throughput.flops_per_s? / throughput.of_peak_flops?));
    peaks.filter(|peak| peak.is_finite() && *peak > 0.0).reduce(f64::max)
}

impl<'a> Roofline<'a> {
    /// The roofline of a run; nothing where no case that passed declares both kinds of work.
    fn of(run: &'a StoredRun) -> Option<Roofline<'a>> {
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
            bandwidth: Roof::of(
                device.peak_bandwidth,
                passed().filter_map(|throughput| throughput.bytes_per_s),
            )?,
            compute: Roof::of(
                highest_peak(passed()).or(device.peak_flops),
                passed().filter_map(|throughput| throughput.flops_per_s),
            )?,
            points,
        })
        .filter(|roofline| !roofline.points.is_empty())
    }

    /// The lower of the roofs at an intensity. A peak is a limit; the best of a run is one only
    /// where no peak is known.
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

    /// The intensity at which the roofs meet.
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

/// The section; nothing where no case declares any work.
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
    let content = match Roofline::of(run) {
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
    let notice = run.run.device.kind.words().advisory.map(|notice| format!(" {notice}"));
    let caption = format!(
        "Compute by declared FLOP per declared byte, both axes logarithmic. Bandwidth: {}. Compute: {}. Solid lines are the device's peaks, dashed ones the best of this run, which the device may well exceed.{}",
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
    let points = folded(format_args!("The points in figures: {points}")).child(table(roofline));
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
    let caption = "Cases in the roofline, and the roof that each lies below";
    let table = markup::table(caption, columns).child(element("tbody").children(rows));
    scrolled("Roofline", table)
}

/// The cases that passed and have no place in the drawing.
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
