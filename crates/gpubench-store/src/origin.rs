//! The runs that stored results come from.

use super::StoredRun;
use gpubench_contract::{BenchmarkComplete, EarlierRun};

impl StoredRun {
    /// Returns the file's own run, in the form in which another file would record it as an earlier
    /// run.
    pub fn origin(&self) -> EarlierRun {
        let run = &self.run;
        EarlierRun {
            run_id: run.run_id.clone(),
            started_at: run.started_at.clone(),
            tool_version: run.tool_version.clone(),
            seed_commitment: run.seed_commitment.clone(),
            device: run.device.clone(),
            revision: self.revision.clone(),
            environment: run.environment.clone(),
        }
    }

    /// Returns the results of earlier runs.
    pub fn kept(&self) -> impl Iterator<Item = &BenchmarkComplete> {
        let earlier = &self.run.earlier_runs;
        let is_kept = |result: &&BenchmarkComplete| earlier.iter().any(|run| run.run_id == result.run_id);
        self.results.iter().filter(is_kept)
    }

    /// Returns the run of a result: the earlier run with its ID, or else the file's own run.
    pub fn origin_of(&self, result: &BenchmarkComplete) -> EarlierRun {
        let mut earlier = self.run.earlier_runs.iter();
        let its = earlier.find(|run| run.run_id == result.run_id);
        its.cloned().unwrap_or_else(|| self.origin())
    }
}
