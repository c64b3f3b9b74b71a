//! Bencher Metric Format: an object of benchmarks, each with an object of measures.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Point, json};
use crate::OutputError;
use gpubench_contract::Metric;

/// Bencher's name for times in nanoseconds.
const LATENCY: &str = "latency";

/// The value of a measure, with its bounds if they are known.
#[derive(Serialize)]
struct Measure {
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lower_value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    upper_value: Option<f64>,
}

/// Returns the text of the file.
///
/// # Errors
/// Never fails in practice: every point can be serialized.
pub(super) fn text(points: &[Point<'_>]) -> Result<String, OutputError> {
    let mut benchmarks: BTreeMap<String, BTreeMap<&str, Measure>> = BTreeMap::new();
    for point in points {
        let measure = Measure {
            value: point.value,
            lower_value: point.interval.map(|[low, _]| low),
            upper_value: point.interval.map(|[_, high]| high),
        };
        let measures = benchmarks.entry(point.case()).or_default();
        measures.insert(name(&point.metric), measure);
    }
    json(&benchmarks)
}

fn name(metric: &Metric) -> &str {
    if metric.is_time() { LATENCY } else { &metric.name }
}
