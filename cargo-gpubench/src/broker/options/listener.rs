//! A listener for the events of a run, in place of its table and exports.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gpubench_contract::{
    BenchmarkComplete, BenchmarkStarted, ComparisonComplete, ContestComplete, RunFinished, RunStarted,
};
use gpubench_report::{OutputError, Progress, Reporter};

/// A reporter that its owner can read after the run.
#[derive(Clone)]
pub struct Listener(Arc<Mutex<dyn Reporter + Send>>);

impl Listener {
    /// Returns a listener that passes every event on.
    pub fn to(reporter: Arc<Mutex<dyn Reporter + Send>>) -> Listener {
        Listener(reporter)
    }

    fn reporter(&self) -> MutexGuard<'_, dyn Reporter + Send + 'static> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reporter for Listener {
    fn run_started(&mut self, run: &RunStarted, cases: &[BenchmarkStarted]) -> Result<(), OutputError> {
        self.reporter().run_started(run, cases)
    }

    fn benchmark_started(&mut self, started: &BenchmarkStarted) -> Result<(), OutputError> {
        self.reporter().benchmark_started(started)
    }

    fn progress(&mut self, progress: &Progress) -> Result<(), OutputError> {
        self.reporter().progress(progress)
    }

    fn benchmark_complete(&mut self, result: &BenchmarkComplete) -> Result<(), OutputError> {
        self.reporter().benchmark_complete(result)
    }

    fn contest_complete(&mut self, contest: &ContestComplete) -> Result<(), OutputError> {
        self.reporter().contest_complete(contest)
    }

    fn comparison_complete(&mut self, comparison: &ComparisonComplete) -> Result<(), OutputError> {
        self.reporter().comparison_complete(comparison)
    }

    fn run_finished(&mut self, finished: &RunFinished) -> Result<(), OutputError> {
        self.reporter().run_finished(finished)
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listener").finish_non_exhaustive()
    }
}
