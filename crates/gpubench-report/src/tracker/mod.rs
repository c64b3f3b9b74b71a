//! Files for services that keep the results of many runs: Bencher, github-action-benchmark and
//! Prometheus.
//!
//! Each format is a function of the same [`Point`]s. They have the values of results that passed.

mod bencher;
mod github_benchmark;
mod open_metrics;

#[cfg(test)]
mod tests;

use super::{Output, OutputError, Reporter};
use gpubench_contract::{
    BenchmarkComplete, BenchmarkStarted, METRICS, Metric, MetricKind, Reading, RunFinished, RunStarted, Verdict,
};

/// A format of such a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrackerFormat {
    /// Bencher Metric Format, JSON.
    Bencher,
    /// `customSmallerIsBetter` of github-action-benchmark, JSON.
    GithubBenchmark,
    /// OpenMetrics 1.0 text.
    OpenMetrics,
}

/// Writes the results in the format of a service, at the end of the run.
pub struct TrackerReporter {
    output: Output,
    format: TrackerFormat,
    run: Option<RunStarted>,
    results: Vec<BenchmarkComplete>,
}

impl TrackerReporter {
    /// Returns a reporter that writes to `output`.
    pub fn new(output: Output, format: TrackerFormat) -> TrackerReporter {
        TrackerReporter {
            output,
            format,
            run: None,
            results: Vec::new(),
        }
    }
}

impl Reporter for TrackerReporter {
    fn run_started(&mut self, run: &RunStarted, _: &[BenchmarkStarted]) -> Result<(), OutputError> {
        self.run = Some(run.clone());
        Ok(())
    }

    fn benchmark_complete(&mut self, result: &BenchmarkComplete) -> Result<(), OutputError> {
        // Samples are long, and no format has them.
        self.results.push(BenchmarkComplete {
            samples: Vec::new(),
            evidence: None,
            ..result.clone()
        });
        Ok(())
    }

    fn run_finished(&mut self, _: &RunFinished) -> Result<(), OutputError> {
        let points: Vec<Point<'_>> = self.results.iter().flat_map(points).collect();
        let text = match self.format {
            TrackerFormat::Bencher => bencher::text(&points)?,
            TrackerFormat::GithubBenchmark => github_benchmark::text(&points)?,
            TrackerFormat::OpenMetrics => open_metrics::text(self.run.as_ref(), &self.results, &points),
        };
        self.output.print(&text)
    }
}

/// A value of a result that passed.
struct Point<'a> {
    result: &'a BenchmarkComplete,
    metric: Metric,
    value: f64,
    /// The 95 % interval. `None` for a single sample and for energies.
    interval: Option<[f64; 2]>,
}

/// Returns the values of a result: none if it did not pass, and its energy if it was measured.
fn points(result: &BenchmarkComplete) -> Vec<Point<'_>> {
    let Some(stats) = result.stats.as_ref().filter(|_| result.verdict == Verdict::Pass) else {
        return Vec::new();
    };
    let own = Point {
        result,
        metric: result.metric.clone(),
        value: stats.value,
        interval: stats.ci95.filter(|_| stats.n > 1),
    };
    let energy = METRICS.iter().find(|row| row.kind == MetricKind::Energy);
    let energy = energy.zip(result.energy_per_call_j).map(|(row, value)| Point {
        result,
        metric: row.metric(),
        value,
        interval: None,
    });
    let points = [Some(own), energy].into_iter().flatten();
    points.filter(|point| point.value.is_finite()).collect()
}

impl Point<'_> {
    /// Returns the case with its package, and the mode if it is not `cold`.
    fn case(&self) -> String {
        Reading::new(self.result.mode, &Metric::time()).label(&self.result.full_name())
    }

    /// Returns the same with the metric if it is not the time.
    fn name(&self) -> String {
        Reading::new(self.result.mode, &self.metric).label(&self.result.full_name())
    }
}

/// Formats JSON for a file that people look at, too.
fn json(value: &impl serde::Serialize) -> Result<String, OutputError> {
    let text = serde_json::to_string_pretty(value)
        .map_err(std::io::Error::other)
        .map_err(super::output::not_written("JSON"))?;
    Ok(gpubench_diagnostic::printable_json(&text) + "\n")
}
