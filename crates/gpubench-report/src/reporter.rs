//! The events of a run, for reports.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::OutputError;
use gpubench_contract::units::Quantity;
use gpubench_contract::{
    BenchmarkComplete, BenchmarkStarted, ComparisonComplete, ContestComplete, Metric, ProblemComplete, RunFinished,
    RunStarted,
};
use gpubench_stats::{Estimate, Moments};

/// A listener for the events of a run, called in the order of the records: `run_started`; for every
/// case `benchmark_started`, any number of `progress`, and `benchmark_complete`; then
/// `run_finished`, also after an interruption.
pub trait Reporter {
    /// Called at the start of the run. `cases` are all selected cases in the order in which they
    /// will run.
    fn run_started(&mut self, run: &RunStarted, cases: &[BenchmarkStarted]) -> Result<(), OutputError>;

    /// Called at the start of a case.
    fn benchmark_started(&mut self, started: &BenchmarkStarted) -> Result<(), OutputError> {
        let _ = started;
        Ok(())
    }

    /// Called when a case makes progress. Only between windows, never during one.
    fn progress(&mut self, progress: &Progress) -> Result<(), OutputError> {
        let _ = progress;
        Ok(())
    }

    /// Called when a case has its verdict.
    fn benchmark_complete(&mut self, result: &BenchmarkComplete) -> Result<(), OutputError>;

    /// Called when a case has its verdict before the cases before it in the run.
    /// `benchmark_complete` follows when its turn comes.
    fn benchmark_held_back(&mut self, result: &BenchmarkComplete) -> Result<(), OutputError> {
        let _ = result;
        Ok(())
    }

    /// Called with the ranking of each contest, after the last case and before any comparison.
    fn contest_complete(&mut self, contest: &ContestComplete) -> Result<(), OutputError> {
        let _ = contest;
        Ok(())
    }

    /// Called with what the cases of each submission say together, after the last case, in the
    /// order of the submissions.
    fn problem_complete(&mut self, graded: &ProblemComplete) -> Result<(), OutputError> {
        let _ = graded;
        Ok(())
    }

    /// Called with each comparison, after the last case and before the end of the run.
    fn comparison_complete(&mut self, comparison: &ComparisonComplete) -> Result<(), OutputError> {
        let _ = comparison;
        Ok(())
    }

    /// Called with the comparison with the last results of the same cases, if nothing else was
    /// asked for, and before the end of the run. Only people get it: no record has it.
    fn compared_with_last_run(&mut self, comparison: &ComparisonComplete) -> Result<(), OutputError> {
        let _ = comparison;
        Ok(())
    }

    /// Called at the end of the run.
    fn run_finished(&mut self, finished: &RunFinished) -> Result<(), OutputError>;
}

/// The progress of the current case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Current phase.
    pub phase: Phase,
    /// Windows so far.
    pub windows: u64,
    /// Value of the case if it had no more samples.
    pub value: Option<Quantity>,
    /// Coefficient of variation so far.
    pub cv: Option<f64>,
}

impl Progress {
    /// Returns the progress with these samples of a metric, all together and by worker.
    pub fn of_samples(metric: &Metric, samples: &[f64], of_workers: &[&[f64]]) -> Progress {
        Progress {
            phase: Phase::Sampling,
            windows: samples.len() as u64,
            value: Estimate::from_workers(of_workers).map(|estimate| metric.quantity(estimate.value())),
            cv: Moments::from_samples(samples).cv(),
        }
    }
}

/// The phases of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Phase {
    /// The kernels are compiled.
    Compiling,
    /// The plan is recorded.
    Recording,
    /// The worker is started.
    Preparing,
    /// Warm-up windows, which do not count.
    WarmingUp,
    /// Timed windows.
    Sampling,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Phase::Compiling => "compiling",
            Phase::Recording => "recording",
            Phase::Preparing => "preparing",
            Phase::WarmingUp => "warming up",
            Phase::Sampling => "sampling",
        })
    }
}

/// Several reporters. Each gets every event, even after another one fails.
pub struct Reporters(pub Vec<Box<dyn Reporter>>);

impl Reporters {
    /// Calls each reporter.
    ///
    /// # Errors
    /// Returns the first error.
    pub fn tell(&mut self, each: impl Fn(&mut dyn Reporter) -> Result<(), OutputError>) -> Result<(), OutputError> {
        self.0
            .iter_mut()
            .map(|reporter| each(reporter.as_mut()))
            .fold(Ok(()), Result::and)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_stats::summary;

    #[test]
    fn progress_shows_the_value_that_the_samples_so_far_would_give() {
        let samples = [1.0, 1.0, 2.0, 9.0, 5.0, 5.0, 5.0, 8.0];
        let of_workers = samples.split_at(4);
        let of_workers = [of_workers.0, of_workers.1];
        let progress = Progress::of_samples(&Metric::time(), &samples, &of_workers);
        let end = summary(&of_workers).expect("samples");
        assert_eq!(progress.value, Some(gpubench_contract::units::time(end.value)));
        assert_eq!(end.value, 3.25, "the middle sample is another");
        assert_eq!((progress.windows, progress.cv), (8, end.cv));
    }

    #[test]
    fn without_samples_there_is_no_figure() {
        let progress = Progress::of_samples(&Metric::time(), &[], &[&[]]);
        assert_eq!((progress.windows, progress.value, progress.cv), (0, None, None));
    }
}
