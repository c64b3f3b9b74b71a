//! The roofs of a device, and the results below them.

use super::attention::positions;
use super::names::Anchor;
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
    pub(super) anchor: Anchor,
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
    pub(super) fn from_run(run: &'a StoredRun) -> Option<Roofline<'a>> {
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
