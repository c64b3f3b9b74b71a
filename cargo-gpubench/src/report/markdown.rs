//! Results as a Markdown table, for a comment under a change.

use super::{
    BenchmarkComplete, BenchmarkStarted, ComparisonComplete, DeviceKind, Output, OutputError, Reporter, RunFinished,
    RunStarted,
};
use crate::units::{byte_rate, flop_rate, percent, time};

/// Writes a table, one row a case as soon as it has its verdict; the summary stands below it.
pub struct MarkdownReporter {
    output: Output,
}

const HEADER: &str = "\
| Case | Verdict | Median | ± 95 % | CV | n | Bandwidth | Compute | Grade |
|:-----|:--------|-------:|-------:|---:|--:|----------:|--------:|:------|
";

impl MarkdownReporter {
    /// Writes to `output`.
    pub fn new(output: Output) -> MarkdownReporter {
        MarkdownReporter { output }
    }
}

impl Reporter for MarkdownReporter {
    fn run_started(&mut self, run: &RunStarted, _: &[BenchmarkStarted]) -> Result<(), OutputError> {
        let device = escaped(&run.device.name);
        let note = match run.device.kind {
            DeviceKind::Cpu => format!("\n{}\n", super::CPU_NOTICE),
            DeviceKind::Cuda => String::new(),
        };
        self.output.print(&format!(
            "`cargo gpubench` {} on {device}\n{note}\n{HEADER}",
            run.tool_version
        ))
    }

    fn benchmark_complete(&mut self, result: &BenchmarkComplete) -> Result<(), OutputError> {
        self.output.print(&row(result))
    }

    fn comparison_complete(&mut self, comparison: &ComparisonComplete) -> Result<(), OutputError> {
        self.output.print(&format!(
            "\n{}",
            super::comparison_markdown(comparison, super::GITHUB_LIMIT)
        ))
    }

    fn run_finished(&mut self, finished: &RunFinished) -> Result<(), OutputError> {
        self.output.print(&format!("\n{}\n", super::summary::line(finished)))
    }
}

fn row(result: &BenchmarkComplete) -> String {
    let stats = result.stats.as_ref().filter(|_| !result.verdict.is_failure());
    let verdict = match result.verdict {
        verdict if verdict.is_failure() => format!("**{verdict}**"),
        verdict => verdict.to_string(),
    };
    let outcome: Vec<String> = [Some(verdict), result.cause.map(|cause| cause.to_string())]
        .into_iter()
        .flatten()
        .collect();
    let cells = [
        format!("{} `{}`", escaped(&result.package), escaped(&result.case)),
        outcome.join(": "),
        shown(stats.map(|stats| time(stats.median_ns))),
        shown(stats.and_then(|stats| stats.relative_interval()).map(percent)),
        shown(stats.and_then(|stats| stats.cv).map(percent)),
        shown(stats.map(|stats| stats.n)),
        shown(
            stats
                .and(result.throughput.bytes_per_s)
                .map(|rate| bandwidth(rate, result.throughput.of_peak_bandwidth)),
        ),
        shown(stats.and(result.throughput.flops_per_s).map(flop_rate)),
        shown(result.grade),
    ];
    format!("| {} |\n", cells.join(" | "))
}

/// `2.451 TB/s (51.1% of peak)`.
fn bandwidth(bytes_per_second: f64, of_peak: Option<f64>) -> String {
    match of_peak {
        Some(share) => format!("{} ({} of peak)", byte_rate(bytes_per_second), percent(share)),
        None => byte_rate(bytes_per_second).to_string(),
    }
}

fn shown(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// A text that cannot end its cell.
fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace(['\r', '\n', '`'], " ")
}
