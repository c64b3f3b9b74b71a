//! The records as a stream of JSON lines.

use std::io;

use super::output::not_written;
use super::{Output, OutputError, Reporter};
use gpubench_contract::{
    BenchmarkComplete, BenchmarkStarted, ComparisonComplete, ContestComplete, DeviceMatrix, ProblemComplete, Record,
    RunFinished, RunStarted,
};
use gpubench_diagnostic::printable_json;

/// Writes every record immediately, as one line of JSON.
pub struct JsonReporter {
    output: Output,
}

impl JsonReporter {
    /// Returns a reporter that writes to `output`.
    pub fn new(output: Output) -> JsonReporter {
        JsonReporter { output }
    }

    /// Writes the results of several devices.
    ///
    /// # Errors
    /// The line cannot be written.
    pub fn device_matrix(&mut self, matrix: &DeviceMatrix) -> Result<(), OutputError> {
        self.write(&Record::DeviceMatrix(Box::new(matrix.clone())))
    }

    fn write(&mut self, record: &Record) -> Result<(), OutputError> {
        self.output.print(&json_line(record)?)
    }
}

/// Returns a record as one line of JSON, which a terminal or a log can show.
///
/// # Errors
/// Never fails in practice: every record can be serialized.
pub fn json_line(record: &Record) -> Result<String, OutputError> {
    let line = serde_json::to_string(record)
        .map_err(io::Error::other)
        .map_err(not_written("JSON"))?;
    Ok(printable_json(&line) + "\n")
}

impl Reporter for JsonReporter {
    fn run_started(&mut self, run: &RunStarted, _: &[BenchmarkStarted]) -> Result<(), OutputError> {
        self.write(&Record::RunStarted(Box::new(run.clone())))
    }

    fn benchmark_started(&mut self, started: &BenchmarkStarted) -> Result<(), OutputError> {
        self.write(&Record::BenchmarkStarted(started.clone()))
    }

    fn benchmark_complete(&mut self, result: &BenchmarkComplete) -> Result<(), OutputError> {
        self.write(&Record::BenchmarkComplete(Box::new(result.clone())))
    }

    fn contest_complete(&mut self, contest: &ContestComplete) -> Result<(), OutputError> {
        self.write(&Record::ContestComplete(Box::new(contest.clone())))
    }

    fn problem_complete(&mut self, graded: &ProblemComplete) -> Result<(), OutputError> {
        self.write(&Record::ProblemComplete(Box::new(graded.clone())))
    }

    fn comparison_complete(&mut self, comparison: &ComparisonComplete) -> Result<(), OutputError> {
        self.write(&Record::ComparisonComplete(Box::new(comparison.clone())))
    }

    fn run_finished(&mut self, finished: &RunFinished) -> Result<(), OutputError> {
        self.write(&Record::RunFinished(finished.clone()))
    }
}
