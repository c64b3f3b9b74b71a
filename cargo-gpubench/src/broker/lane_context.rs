//! What the lanes of a run share.

use super::cases::Case;
use super::environment;
use super::job::Job;
use super::recording::preparation::Prepared;
use super::selected::Selected;
use super::settings::RunSettings;
use gpubench_contract::{BenchmarkComplete, CacheState, Method, Verdict};
use gpubench_measure::clients::Interrupt;

/// What the lanes of a run share.
#[derive(Clone, Copy)]
pub(super) struct LaneContext<'r> {
    pub(super) selected: Selected<'r>,
    /// The identity of the compiler.
    pub(super) compiler: &'r str,
    pub(super) settings: &'r RunSettings<'r>,
    /// The cases of the baseline that the run alternates with, and their preparations.
    pub(super) baseline: Option<(&'r [Case], &'r [Prepared])>,
    /// Ends the lanes.
    pub(super) interrupt: &'r Interrupt,
}

impl LaneContext<'_> {
    /// Returns the result of a job that was not measured.
    pub(super) fn unmeasured(&self, job: &Job<'_>) -> BenchmarkComplete {
        let (selected, settings) = (&self.selected, self.settings);
        let device = environment::device(selected.facts).short();
        BenchmarkComplete {
            environment: environment::environment(selected.facts, settings.setup(), Some(self.compiler)),
            problem: selected.benchmark(job.case).map(|benchmark| benchmark.problem.clone()),
            ..BenchmarkComplete::unmeasured(&job.announced, device, Verdict::Skipped)
        }
    }

    pub(super) fn cache_state(&self, mode: Method) -> CacheState {
        let cache_bytes = self.selected.facts.device.l2_bytes;
        CacheState::new(mode, self.settings.flush_bytes, cache_bytes)
    }
}
