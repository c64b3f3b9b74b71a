//! The control windows of an arm: who runs them, and when.

use std::num::NonZeroU32;
use std::time::Duration;

use super::control_lease::ControlLease;
use super::protocol::Protocol;
use super::run::{RunControls, WorkerRun};
use crate::verdict::{Execution, Surroundings, WindowEvidence};
use gpubench_protocol::window::{ControlPace, MadeCalls, Seeds, WindowId};

/// Number of control windows after the end of the worker under test.
pub(super) const AFTERWARDS: usize = 8;

/// Least number of control windows of a case and of each worker.
const FEWEST: [usize; 2] = [8, 2];

/// Number of control windows of a case and of each worker that is enough if time allows.
const ENOUGH: [usize; 2] = [40, 6];

/// The same if a sample has several calls. They share the bound, so it may be wider.
const ENOUGH_FOR_SEVERAL_CALLS: [usize; 2] = [20, 4];

/// Number of a worker's control windows after which they become sparse. The others only show that
/// the machine has not changed.
const MANY: usize = 8;

/// Most time that a case with slow windows spends on control windows beyond [`FEWEST`].
const PATIENCE: Duration = Duration::from_secs(2);

/// The process that runs control windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Runner {
    /// None: the referee's clock does not check the claims.
    Nobody,
    /// The worker under test. It runs only the tool's host code, and its process adds the same time
    /// to both kinds of window.
    Worker,
    /// The control worker. Host code could manipulate control windows in its own process.
    ControlWorker,
}

impl Runner {
    /// Returns the runner for a kind of execution.
    pub(super) fn new(protocol: &Protocol<'_>, execution: &Execution) -> Runner {
        match (protocol.is_clocked(), execution) {
            (false, _) => Runner::Nobody,
            (true, Execution::Sealed) => Runner::Worker,
            (true, Execution::Hosted(_)) => Runner::ControlWorker,
        }
    }
}

/// When an arm has control windows, and those after the end of its last worker.
#[derive(Debug)]
pub(super) struct Controls {
    pub(super) runner: Runner,
    /// Control windows after the end of the worker under test.
    pub(super) afterwards: Vec<WindowEvidence>,
    since: u32,
    /// Time spent on the additional control windows so far.
    pub(super) caught_up_for: Duration,
}

impl Controls {
    pub(super) fn by(runner: Runner) -> Controls {
        Controls {
            runner,
            afterwards: Vec::new(),
            since: 0,
            caught_up_for: Duration::ZERO,
        }
    }

    /// Whether more control windows are possible.
    pub(super) fn can_continue(&self, lease: &ControlLease<'_>) -> bool {
        match self.runner {
            Runner::Nobody => false,
            Runner::Worker => true,
            Runner::ControlWorker => lease.is_there(),
        }
    }

    /// Whether the key draws a control window before the window at `place` of a worker. Counts that
    /// window.
    pub(super) fn is_next(&mut self, seeds: &Seeds, place: WindowId, run: &WorkerRun) -> bool {
        let pace = match run.controls.windows.len() {
            ..MANY => ControlPace::Usual,
            _ => ControlPace::Sparse,
        };
        let is_next = seeds.control_comes_first(place, self.since, pace);
        // The window at `place` is the first one after this control window.
        self.since = if is_next { 1 } else { self.since + 1 };
        is_next
    }

    /// Whether the last of some workers, of which there are `workers` initially, needs more control
    /// windows than the key has drawn. A sample has `calls` calls.
    pub(super) fn needs_more(&self, runs: &[WorkerRun], workers: usize, calls: NonZeroU32) -> bool {
        let turns = u32::try_from(runs.len().min(workers)).unwrap_or(u32::MAX);
        let patience = PATIENCE * turns / u32::try_from(workers).unwrap_or(u32::MAX);
        let each = |[of_case, of_worker]: [usize; 2]| of_case.div_ceil(workers).max(of_worker);
        let enough = match calls {
            NonZeroU32::MIN => ENOUGH,
            _ => ENOUGH_FOR_SEVERAL_CALLS,
        };
        let windows = runs.last().map_or(0, |run| run.controls.windows.len());
        windows < each(FEWEST) || windows < each(enough) && self.caught_up_for < patience
    }

    /// Returns what the judge sees of the workers' surroundings.
    pub(super) fn surroundings<'s>(
        &'s self,
        lease: &'s ControlLease<'_>,
        other_clients: Option<u32>,
    ) -> Surroundings<'s> {
        Surroundings {
            controls_afterwards: &self.afterwards,
            shortest_claim_ns: lease.shortest_claim_ns,
            loss: lease.loss.as_deref().filter(|_| self.runner == Runner::ControlWorker),
            rivals: lease.rivals,
            other_clients,
        }
    }
}

impl RunControls {
    /// Adds a control window.
    pub(super) fn add(&mut self, window: WindowEvidence) {
        match window.facts.kind.made_calls() {
            MadeCalls::All => self.windows.push(window),
            MadeCalls::First => self.singles.push(window),
        }
    }
}
