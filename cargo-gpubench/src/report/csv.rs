//! Results as comma-separated values (RFC 4180): one row a case, times in nanoseconds, nothing where a value is not known.

use super::{BenchmarkComplete, BenchmarkStarted, Output, OutputError, Reporter, RunFinished, RunStarted};

/// Columns before those of the axes.
const COLUMNS: [&str; 26] = [
    "package",
    "benchmark",
    "case",
    "device",
    "mode",
    "verdict",
    "cause",
    "grade",
    "n",
    "median_ns",
    "ci95_low_ns",
    "ci95_high_ns",
    "mean_ns",
    "stddev_ns",
    "cv",
    "min_ns",
    "q1_ns",
    "q3_ns",
    "max_ns",
    "bytes_per_s",
    "flops_per_s",
    "stop",
    "message",
    "of_peak_bandwidth",
    "of_peak_flops",
    "grade_reason",
];

/// Writes one row a case as soon as it has its verdict. Every axis of any selected case has a column `param_<axis>` behind the others.
pub struct CsvReporter {
    output: Output,
    axes: Vec<String>,
}

impl CsvReporter {
    /// Writes to `output`.
    pub fn new(output: Output) -> CsvReporter {
        CsvReporter {
            output,
            axes: Vec::new(),
        }
    }

    fn write_row(&mut self, fields: &[String]) -> Result<(), OutputError> {
        let quoted: Vec<String> = fields.iter().map(|field| quoted(field)).collect();
        self.output.print(&(quoted.join(",") + "\r\n"))
    }
}

impl Reporter for CsvReporter {
    fn run_started(&mut self, _: &RunStarted, cases: &[BenchmarkStarted]) -> Result<(), OutputError> {
        self.axes = axes_of(cases);
        let axes = self.axes.iter().map(|axis| format!("param_{axis}"));
        let header: Vec<String> = COLUMNS.iter().map(ToString::to_string).chain(axes).collect();
        self.write_row(&header)
    }

    fn benchmark_complete(&mut self, result: &BenchmarkComplete) -> Result<(), OutputError> {
        let row = row(result, &self.axes);
        self.write_row(&row)
    }

    fn run_finished(&mut self, _: &RunFinished) -> Result<(), OutputError> {
        Ok(())
    }
}

/// The names of all axes, each once, in the order in which they appear.
fn axes_of(cases: &[BenchmarkStarted]) -> Vec<String> {
    let mut axes: Vec<String> = Vec::new();
    for (name, _) in cases.iter().flat_map(|case| &case.params.0) {
        if !axes.contains(name) {
            axes.push(name.clone());
        }
    }
    axes
}

fn row(result: &BenchmarkComplete, axes: &[String]) -> Vec<String> {
    let stats = result.stats.as_ref();
    let mut row = vec![
        result.package.clone(),
        result.benchmark.clone(),
        result.case.clone(),
        result.device.name.clone(),
        result.mode.to_string(),
        result.verdict.to_string(),
        shown(result.cause),
        shown(result.grade),
        shown(stats.map(|stats| stats.n)),
        shown(stats.map(|stats| stats.median_ns)),
        shown(stats.map(|stats| stats.ci95_ns[0])),
        shown(stats.map(|stats| stats.ci95_ns[1])),
        shown(stats.map(|stats| stats.mean_ns)),
        shown(stats.and_then(|stats| stats.stddev_ns)),
        shown(stats.and_then(|stats| stats.cv)),
        shown(stats.map(|stats| stats.min_ns)),
        shown(stats.map(|stats| stats.q1_ns)),
        shown(stats.map(|stats| stats.q3_ns)),
        shown(stats.map(|stats| stats.max_ns)),
        shown(result.throughput.bytes_per_s),
        shown(result.throughput.flops_per_s),
        shown(result.stop.as_ref().map(|stop| stop.reason)),
        shown(result.message.as_ref()),
        shown(result.throughput.of_peak_bandwidth),
        shown(result.throughput.of_peak_flops),
        shown(result.grade_reason.as_ref()),
    ];
    row.extend(axes.iter().map(|axis| {
        let value = result.params.0.iter().find(|(name, _)| name == axis);
        shown(value.map(|(_, value)| value))
    }));
    row
}

fn shown(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// A field, in quotes where it holds a separator, a quote or a line break.
fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\r', '\n']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}
