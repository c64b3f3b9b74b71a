//! What the lanes of a run share.

use std::num::NonZeroUsize;

use super::job::Job;
use crate::broker::cases::Case;
use crate::broker::device::environment;
use crate::broker::recording::preparation::Prepared;
use crate::broker::recording::selected::Selected;
use crate::broker::settings::RunSettings;
use gpubench_contract::{BenchmarkComplete, CacheState, Mode, Verdict};
use gpubench_measure::clients::Interrupt;

/// What the lanes of a run share.
#[derive(Clone, Copy)]
pub(in crate::broker) struct LaneContext<'r> {
    pub(in crate::broker) selected: Selected<'r>,
    /// The identity of the compiler.
    pub(in crate::broker) compiler: &'r str,
    pub(in crate::broker) settings: &'r RunSettings<'r>,
    /// The cases of the baseline that the run alternates with, and their preparations.
    pub(in crate::broker) baseline: Option<(&'r [Case], &'r [Prepared])>,
    /// Number of cases that run at the same time.
    pub(in crate::broker) lanes: NonZeroUsize,
    /// Ends the lanes.
    pub(in crate::broker) interrupt: &'r Interrupt,
    /// Which attempt to measure the cases this is.
    pub(in crate::broker) attempt: Attempt,
}

/// Which attempt to measure a case this is. Each has inputs of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(in crate::broker) enum Attempt {
    /// The first.
    #[default]
    First,
    /// Another one after faults of machines, with its number from 2.
    Again(u32),
}

impl Attempt {
    /// Returns the attempt with a number from 1.
    pub(in crate::broker) fn numbered(number: u32) -> Attempt {
        match number {
            0 | 1 => Attempt::First,
            later => Attempt::Again(later),
        }
    }

    /// Returns the label that the inputs of cases with this label follow from.
    pub(super) fn label(self, label: &str) -> String {
        match self {
            Attempt::First => label.to_owned(),
            Attempt::Again(number) => format!("{label} attempt {number}"),
        }
    }
}

impl<'r> LaneContext<'r> {
    /// Returns the same context on the device of some settings.
    pub(super) fn on<'s>(self, settings: &'s RunSettings<'s>) -> LaneContext<'s>
    where
        'r: 's,
    {
        LaneContext {
            selected: Selected {
                device: settings.device,
                facts: settings.facts,
                ..self.selected
            },
            settings,
            ..self
        }
    }

    /// Returns the result of a job that was not measured.
    pub(in crate::broker) fn unmeasured(&self, job: &Job<'_>) -> BenchmarkComplete {
        let (selected, settings) = (&self.selected, self.settings);
        let device = environment::device(selected.facts).short();
        let benchmark = selected.benchmark(job.case);
        BenchmarkComplete {
            environment: environment::environment(selected.facts, settings.setup(), Some(self.compiler)),
            problem: benchmark.map(|benchmark| benchmark.problem.clone()),
            submission: selected.entrants.map(|entrants| entrants.facts(job.case)),
            own_axes: benchmark.map_or_else(Vec::new, |benchmark| benchmark.own_axes.clone()),
            ..BenchmarkComplete::unmeasured(&job.announced, device, Verdict::Skipped)
        }
    }

    pub(in crate::broker) fn cache_state(&self, mode: Mode) -> CacheState {
        let cache_bytes = self.selected.facts.device.l2_bytes;
        CacheState::new(mode, self.settings.flush_bytes, cache_bytes)
    }
}
