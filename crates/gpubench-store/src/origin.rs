//! Which run a stored result is of.

use super::StoredRun;
use gpubench_contract::{BenchmarkComplete, Device, DeviceIdentity, EarlierRun, Environment, Revision, RunStarted};

/// The run that a result is of, with what its times depend on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Origin<'a> {
    /// Names the run.
    pub run_id: &'a str,
    /// When it began, as RFC 3339 in UTC.
    pub started_at: &'a str,
    /// Version of the tool.
    pub tool_version: &'a str,
    /// The device.
    pub device: &'a Device,
    /// Surroundings at its start.
    pub environment: &'a Environment,
    /// Where the sources stood; `None` where that is not known.
    pub revision: Option<&'a Revision>,
}

impl<'a> Origin<'a> {
    /// A run that has just been measured, or the one that a file is named for.
    pub fn of_run(run: &'a RunStarted, revision: Option<&'a Revision>) -> Origin<'a> {
        Origin {
            run_id: &run.run_id,
            started_at: &run.started_at,
            tool_version: &run.tool_version,
            device: &run.device,
            environment: &run.environment,
            revision,
        }
    }

    /// A run of which another one's file has kept results.
    pub fn of_earlier(run: &'a EarlierRun) -> Origin<'a> {
        Origin {
            run_id: &run.run_id,
            started_at: &run.started_at,
            tool_version: &run.tool_version,
            device: &run.device,
            environment: &run.environment,
            revision: run.revision.as_ref(),
        }
    }

    /// What must be equal for times to be of the same device.
    pub fn identity(&self) -> DeviceIdentity {
        DeviceIdentity::in_environment(self.device, self.environment)
    }
}

impl StoredRun {
    /// Where the file's own run stands.
    pub fn origin(&self) -> Origin<'_> {
        Origin::of_run(&self.run, self.revision.as_ref())
    }

    /// The results that are of earlier runs.
    pub fn kept(&self) -> impl Iterator<Item = &BenchmarkComplete> {
        let earlier = &self.run.earlier_runs;
        let is_kept = |result: &&BenchmarkComplete| earlier.iter().any(|run| run.run_id == result.run_id);
        self.results.iter().filter(is_kept)
    }

    /// Which run a result is of; the file's own where none of the earlier ones has its name.
    pub fn origin_of(&self, result: &BenchmarkComplete) -> Origin<'_> {
        let mut earlier = self.run.earlier_runs.iter();
        earlier
            .find(|run| run.run_id == result.run_id)
            .map_or_else(|| self.origin(), Origin::of_earlier)
    }
}
