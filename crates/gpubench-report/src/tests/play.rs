//! Replays a sample run to a reporter.

use gpubench_store::{StoredRun, contests};
use gpubench_testing::SampleRun;

use crate::{OutputError, Reporter};

/// A run that can be replayed to a reporter.
pub(crate) trait Play {
    /// Sends the run's events to `reporter`.
    fn play(&self, reporter: &mut dyn Reporter) -> Result<(), OutputError>;
}

impl Play for SampleRun {
    fn play(&self, reporter: &mut dyn Reporter) -> Result<(), OutputError> {
        reporter.run_started(&self.started, &self.cases)?;
        for (case, result) in self.cases.iter().zip(&self.results) {
            reporter.benchmark_started(case)?;
            reporter.benchmark_complete(result)?;
        }
        let stored = StoredRun::new(self.started.clone(), self.results.clone(), None, None);
        for contest in contests(&stored) {
            reporter.contest_complete(&contest)?;
        }
        if let Some(comparison) = &self.comparison {
            reporter.comparison_complete(comparison)?;
        }
        reporter.run_finished(&self.finished)
    }
}
