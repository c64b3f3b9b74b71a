//! github-action-benchmark's `customSmallerIsBetter`: an array with an object for each value.

use serde::Serialize;

use super::{Point, json};
use crate::OutputError;
use gpubench_contract::units::counted;
use gpubench_contract::{Better, Metric};

#[derive(Serialize)]
struct Entry {
    name: String,
    unit: String,
    value: f64,
    /// Half the width of the 95 % interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<String>,
    /// What a chart shows of a point on demand.
    extra: String,
}

/// Returns the text of the file. Metrics of which more is better are left out: the format would
/// read them the wrong way round.
///
/// # Errors
/// Never fails in practice: every point can be serialized.
pub(super) fn text(points: &[Point<'_>]) -> Result<String, OutputError> {
    let points = points.iter().filter(|point| point.metric.better == Better::Lower);
    json(&points.map(entry).collect::<Vec<Entry>>())
}

fn entry(point: &Point<'_>) -> Entry {
    Entry {
        name: point.name(),
        unit: point.metric.unit.to_string(),
        value: point.value,
        range: point
            .interval
            .map(|[low, high]| format!("± {}", rounded((high - low) / 2.0))),
        extra: extra(point, &point.metric),
    }
}

/// Rounds to three significant digits: a width needs no more.
fn rounded(width: f64) -> f64 {
    format!("{width:.2e}").parse().unwrap_or(width)
}

/// Returns lines with the interval, the samples, the grade and the device.
fn extra(point: &Point<'_>, metric: &Metric) -> String {
    let result = point.result;
    let samples = result.stats.as_ref().map_or(0, |stats| stats.n);
    let workers = result.workers.len();
    let lines = [
        point
            .interval
            .map(|interval| format!("95% interval {}", metric.range(interval))),
        Some(format!(
            "{}, {}",
            counted(samples, "sample"),
            counted(workers, "worker")
        )),
        result.grade.map(|grade| grade.to_string()),
        Some(result.device.name.clone()),
    ];
    lines.into_iter().flatten().collect::<Vec<_>>().join("\n")
}
