//! What the broker tells about a run, to whoever listens.

use std::fmt;

use super::OutputError;
use gpubench_contract::units::Quantity;
use gpubench_contract::{BenchmarkComplete, BenchmarkStarted, ComparisonComplete, Metric, RunFinished, RunStarted};
use gpubench_stats::{Estimate, Moments};

/// Listens to a run. The calls come in the order of the records: `run_started`, then for every case
/// `benchmark_started`, any number of `progress` and `benchmark_complete`, then `run_finished`,
/// also after an interruption.
pub trait Reporter {
    /// The run begins. `cases` are all selected cases in the order in which they will run.
    fn run_started(&mut self, run: &RunStarted, cases: &[BenchmarkStarted]) -> Result<(), OutputError>;

    /// A case begins.
    fn benchmark_started(&mut self, started: &BenchmarkStarted) -> Result<(), OutputError> {
        let _ = started;
        Ok(())
    }

    /// A case has come further. Call it between windows, never inside of one.
    fn progress(&mut self, progress: &Progress) -> Result<(), OutputError> {
        let _ = progress;
        Ok(())
    }

    /// A case has its verdict.
    fn benchmark_complete(&mut self, result: &BenchmarkComplete) -> Result<(), OutputError>;

    /// The results have been compared with others. It comes behind the last case and before the
    /// run's end.
    fn comparison_complete(&mut self, comparison: &ComparisonComplete) -> Result<(), OutputError> {
        let _ = comparison;
        Ok(())
    }

    /// The run has ended.
    fn run_finished(&mut self, finished: &RunFinished) -> Result<(), OutputError>;
}

/// How far the case at hand has come.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// What is being done.
    pub phase: Phase,
    /// Windows so far.
    pub windows: u64,
    /// What the case's figure would be if these were all of its samples.
    pub value: Option<Quantity>,
    /// Coefficient of variation so far.
    pub cv: Option<f64>,
}

impl Progress {
    /// With these samples of a metric, together and of each worker.
    pub fn of_samples(metric: &Metric, samples: &[f64], of_workers: &[&[f64]]) -> Progress {
        Progress {
            phase: Phase::Sampling,
            windows: samples.len() as u64,
            value: Estimate::of(of_workers).map(|estimate| metric.quantity(estimate.value())),
            cv: Moments::of(samples).cv(),
        }
    }
}

/// Steps of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Its kernels are compiled.
    Compiling,
    /// Its plan is recorded.
    Recording,
    /// Its worker is set up.
    Preparing,
    /// Windows that do not count yet.
    WarmingUp,
    /// Windows that count.
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

/// Several listeners. All of them hear of everything, also after one has failed; the first failure
/// is returned.
pub struct Reporters(pub Vec<Box<dyn Reporter>>);

impl Reporters {
    /// Tells each of them.
    ///
    /// # Errors
    /// The first failure.
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
    fn the_figure_on_the_way_is_the_one_that_the_samples_would_end_with() {
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
