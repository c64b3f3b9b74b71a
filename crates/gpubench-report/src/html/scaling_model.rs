//! The lines of results over a numeric axis.

use super::attention::positions;
use super::names::Anchor;
use gpubench_contract::{BenchmarkComplete, Execution, Metric, ParamValue, Params, Reading, Verdict};
use gpubench_store::StoredRun;

/// Results that differ in a numeric axis and in their kernels, and in nothing else.
pub(super) struct Chart<'a> {
    /// The problem, or the benchmark without one.
    pub(super) subject: &'a str,
    /// The values of the other axes.
    pub(super) fixed: Params,
    pub(super) metric: &'a Metric,
    pub(super) reading: Reading,
    /// Name of the axis.
    pub(super) axis: &'a str,
    /// In the order of the run.
    pub(super) lines: Vec<Line<'a>>,
    /// Cases of these lines that did not pass, or have a value that is not positive.
    pub(super) without_value: Vec<Place<'a>>,
}

/// The results of one kernel, by rising values of the axis.
pub(super) struct Line<'a> {
    pub(super) benchmark: &'a str,
    /// Values of the axes that the benchmark adds to its problem.
    pub(super) own: Params,
    pub(super) clock: Clock,
    pub(super) points: Vec<Point<'a>>,
}

/// What timed a line. Times of the host contain more than those of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Clock {
    Device,
    Host,
}

/// A result at its value of the axis.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) anchor: Anchor,
    pub(super) result: &'a BenchmarkComplete,
    /// The value as it was declared.
    pub(super) shown: &'a ParamValue,
    pub(super) x: f64,
}

/// A measured result.
#[derive(Clone, Copy)]
pub(super) struct Point<'a> {
    pub(super) place: Place<'a>,
    pub(super) value: f64,
    /// `None` if a logarithmic scale cannot show it.
    pub(super) interval: Option<[f64; 2]>,
    /// Whether a case of the line between the previous point and this one has no value.
    pub(super) is_after_a_gap: bool,
}

/// Returns the charts of a run, in the order of its results. Those of a benchmark or problem have
/// the numeric axis with the most values.
pub(super) fn charts(run: &StoredRun) -> Vec<Chart<'_>> {
    let mut subjects: Vec<Vec<(Anchor, &BenchmarkComplete)>> = Vec::new();
    for result in positions(run) {
        match subjects.iter_mut().find(|known| share_subject(known[0].1, result.1)) {
            Some(known) => known.push(result),
            None => subjects.push(vec![result]),
        }
    }
    subjects.iter().flat_map(|results| charts_of(results)).collect()
}

fn subject(result: &BenchmarkComplete) -> &str {
    result.problem.as_deref().unwrap_or(&result.benchmark)
}

fn share_subject(one: &BenchmarkComplete, other: &BenchmarkComplete) -> bool {
    let key = |result: &BenchmarkComplete| (result.problem.is_some(), result.reading());
    one.package == other.package
        && subject(one) == subject(other)
        && key(one) == key(other)
        && one.metric == other.metric
}

fn charts_of<'a>(results: &[(Anchor, &'a BenchmarkComplete)]) -> Vec<Chart<'a>> {
    let Some(axis) = widest_axis(results) else {
        return Vec::new();
    };
    let mut charts: Vec<Chart<'a>> = Vec::new();
    for &(anchor, result) in results {
        let Some((shown, x)) = number(result, axis) else {
            continue;
        };
        let place = Place {
            anchor,
            result,
            shown,
            x,
        };
        let others = result.params.0.iter().filter(|(name, _)| name != axis).cloned();
        let (own, fixed): (Vec<_>, Vec<_>) = others.partition(|(name, _)| result.own_axes.contains(name));
        let fixed = Params(fixed);
        let position = charts.iter().position(|chart| chart.fixed == fixed);
        let position = position.unwrap_or_else(|| {
            charts.push(Chart {
                subject: subject(result),
                fixed,
                metric: &result.metric,
                reading: result.reading(),
                axis,
                lines: Vec::new(),
                without_value: Vec::new(),
            });
            charts.len() - 1
        });
        charts[position].add(place, Params(own));
    }
    for chart in &mut charts {
        chart.sort();
    }
    charts.retain(|chart| chart.lines.iter().any(|line| line.points.len() > 1));
    charts
}

/// Returns the numeric axis with the most positive values, the first one of several.
fn widest_axis<'a>(results: &[(Anchor, &'a BenchmarkComplete)]) -> Option<&'a str> {
    let mut axes: Vec<(&'a str, Vec<f64>)> = Vec::new();
    for (_, result) in results.iter().filter(|(_, result)| value(result).is_some()) {
        for (name, _) in &result.params.0 {
            let Some((_, x)) = number(result, name) else { continue };
            match axes.iter_mut().find(|(known, _)| known == name) {
                Some((_, values)) if values.contains(&x) => {}
                Some((_, values)) => values.push(x),
                None => axes.push((name, vec![x])),
            }
        }
    }
    axes.retain(|(_, values)| values.len() > 1);
    // `max_by_key` would return the last one.
    axes.iter()
        .rev()
        .max_by_key(|(_, values)| values.len())
        .map(|(name, _)| *name)
}

/// Returns the value of an axis, if a logarithmic scale can show it.
fn number<'a>(result: &'a BenchmarkComplete, axis: &str) -> Option<(&'a ParamValue, f64)> {
    let (_, shown) = result.params.0.iter().find(|(name, _)| name == axis)?;
    let x = match shown {
        ParamValue::Int(value) => *value as f64,
        ParamValue::Float(value) => *value,
        ParamValue::Bool(_) | ParamValue::Text(_) => return None,
    };
    (x.is_finite() && x > 0.0).then_some((shown, x))
}

/// Returns the value of a result that passed, if a logarithmic scale can show it.
fn value(result: &BenchmarkComplete) -> Option<f64> {
    let stats = result.stats.as_ref().filter(|_| result.verdict == Verdict::Pass)?;
    (stats.value.is_finite() && stats.value > 0.0).then_some(stats.value)
}

impl<'a> Chart<'a> {
    fn add(&mut self, place: Place<'a>, own: Params) {
        let Some(value) = value(place.result) else {
            self.without_value.push(place);
            return;
        };
        let clock = match place.result.execution {
            Some(Execution::HostedSync) => Clock::Host,
            _ => Clock::Device,
        };
        let stats = place.result.stats.as_ref();
        // One sample has no spread.
        let interval = stats.filter(|stats| stats.n > 1).and_then(|stats| stats.ci95);
        let interval = interval.filter(|[low, high]| *low > 0.0 && high.is_finite());
        let point = Point {
            place,
            value,
            interval,
            is_after_a_gap: false,
        };
        let benchmark = &*place.result.benchmark;
        let same = |line: &&mut Line<'_>| (line.benchmark, &line.own, line.clock) == (benchmark, &own, clock);
        match self.lines.iter_mut().find(same) {
            Some(line) => line.points.push(point),
            None => self.lines.push(Line {
                benchmark,
                own,
                clock,
                points: vec![point],
            }),
        }
    }

    fn sort(&mut self) {
        let without_value = &self.without_value;
        for line in &mut self.lines {
            line.points.sort_by(|one, other| one.place.x.total_cmp(&other.place.x));
            let is_own = |place: &&Place<'_>| {
                let params = &place.result.params.0;
                place.result.benchmark == line.benchmark && line.own.0.iter().all(|axis| params.contains(axis))
            };
            let gaps: Vec<f64> = without_value.iter().filter(is_own).map(|place| place.x).collect();
            let mut previous = f64::INFINITY;
            for point in &mut line.points {
                point.is_after_a_gap = gaps.iter().any(|gap| previous < *gap && *gap < point.place.x);
                previous = point.place.x;
            }
        }
    }

    /// Returns the smallest and the largest value of the axis with a result.
    pub(super) fn ends(&self) -> Option<(Place<'a>, Place<'a>)> {
        let places = || self.lines.iter().flat_map(|line| &line.points).map(|point| point.place);
        let least = places().min_by(|one, other| one.x.total_cmp(&other.x))?;
        let most = places().max_by(|one, other| one.x.total_cmp(&other.x))?;
        Some((least, most))
    }

    /// Returns the best lines at their largest value of the axis, at most `most`, in the order of
    /// the run.
    pub(super) fn best_lines(&self, most: usize) -> Vec<&Line<'a>> {
        let mut by_rank: Vec<usize> = (0..self.lines.len()).collect();
        let last = |line: usize| {
            self.lines[line]
                .points
                .last()
                .map_or((0.0, 0.0), |point| (point.place.x, point.value))
        };
        by_rank.sort_by(|one, other| {
            let ((x, value), (other_x, other_value)) = (last(*one), last(*other));
            other_x.total_cmp(&x).then(self.metric.better.order(value, other_value))
        });
        by_rank.truncate(most);
        by_rank.sort_unstable();
        by_rank.into_iter().map(|line| &self.lines[line]).collect()
    }
}
