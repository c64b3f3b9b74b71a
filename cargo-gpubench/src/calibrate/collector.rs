//! Collects the records of a run.

use gpubench_contract::units::time;
use gpubench_contract::{BenchmarkComplete, BenchmarkStarted, Record, RunFinished, RunStarted};
use gpubench_diagnostic::print_to_stderr;
use gpubench_report::{OutputError, Reporter};

use super::kernel::length_of;
use crate::broker::options::Verbosity;

/// Collects the records of a run. Shows on standard error what is measured.
#[derive(Debug)]
pub(super) struct Collector {
    /// The run, of how many.
    pub(super) turn: (usize, usize),
    pub(super) verbosity: Verbosity,
    pub(super) records: Vec<Record>,
}

/// The records of a run.
#[derive(Debug)]
pub(super) struct Records(pub(super) Vec<Record>);

impl Records {
    /// Returns the first record of the run.
    pub(super) fn run(&self) -> Option<&RunStarted> {
        self.0.iter().find_map(|record| match record {
            Record::RunStarted(run) => Some(&**run),
            _ => None,
        })
    }

    /// Returns the results.
    pub(super) fn results(&self) -> impl Iterator<Item = &BenchmarkComplete> {
        self.0.iter().filter_map(|record| match record {
            Record::BenchmarkComplete(result) => Some(&**result),
            _ => None,
        })
    }
}

impl Reporter for Collector {
    fn run_started(&mut self, run: &RunStarted, _: &[BenchmarkStarted]) -> Result<(), OutputError> {
        self.records.push(Record::RunStarted(Box::new(run.clone())));
        Ok(())
    }

    fn benchmark_started(&mut self, started: &BenchmarkStarted) -> Result<(), OutputError> {
        if self.verbosity > Verbosity::Quiet {
            let (turn, turns) = self.turn;
            let length = time(length_of(&started.params).unwrap_or_default());
            let what = format!("run {turn} of {turns}: {}, {length}", started.mode);
            print_to_stderr(&format_args!("{:>12} {what}\n", "Measuring"));
        }
        self.records.push(Record::BenchmarkStarted(started.clone()));
        Ok(())
    }

    fn benchmark_complete(&mut self, result: &BenchmarkComplete) -> Result<(), OutputError> {
        self.records.push(Record::BenchmarkComplete(Box::new(result.clone())));
        Ok(())
    }

    fn run_finished(&mut self, finished: &RunFinished) -> Result<(), OutputError> {
        self.records.push(Record::RunFinished(finished.clone()));
        Ok(())
    }
}
