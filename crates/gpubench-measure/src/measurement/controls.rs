//! The control windows of an arm: who runs them, and when the next one comes.

use std::time::Duration;

use super::control_lease::ControlLease;
use crate::verdict::{ControlWindows, Execution, WindowEvidence};
use gpubench_device::ClockBound;
use gpubench_protocol::window::{ControlPace, Seeds, WindowId};

/// Control windows behind the end of the worker under test.
pub(super) const ALONE: usize = 8;

/// Control windows of a case at least, and of each worker.
const FEWEST: usize = 8;
const FEWEST_EACH: usize = 2;

/// How many are enough while there is time.
const ENOUGH: usize = 40;
const ENOUGH_EACH: usize = 6;

/// Control windows from which on they only have to show that the machine has not changed.
const MANY: usize = 8;

/// The time that a case with slow windows may spend on control windows beyond [`FEWEST`].
const PATIENCE: Duration = Duration::from_secs(2);

/// Who runs control windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Runner {
    /// Nobody: the referee's clock bounds nothing.
    Nobody,
    /// The worker under test: it holds no host code but the tool's, and what its process adds to a
    /// window is the same in both kinds.
    Worker,
    /// The control worker: host code could meddle with control windows of its own.
    ControlWorker,
}

impl Runner {
    /// Who runs them beside code of this kind.
    pub(super) fn of(clock_bound: &ClockBound, execution: &Execution) -> Runner {
        match (clock_bound, execution) {
            (ClockBound::Absent(_), _) => Runner::Nobody,
            (ClockBound::Exclusive, Execution::Sealed) => Runner::Worker,
            (ClockBound::Exclusive, Execution::Hosted(_)) => Runner::ControlWorker,
        }
    }
}

/// The control windows of an arm.
#[derive(Debug)]
pub(super) struct Controls {
    pub(super) runner: Runner,
    /// Those among sampled ones.
    pub(super) windows: Vec<WindowEvidence>,
    /// Where those of each worker begin among them.
    pub(super) turns: Vec<usize>,
    /// Those behind the end of the worker under test.
    pub(super) alone: Vec<WindowEvidence>,
    since: u32,
    /// How long it took to catch up so far.
    pub(super) caught_up_for: Duration,
}

impl Controls {
    pub(super) fn by(runner: Runner) -> Controls {
        Controls {
            runner,
            windows: Vec::new(),
            turns: Vec::new(),
            alone: Vec::new(),
            since: 0,
            caught_up_for: Duration::ZERO,
        }
    }

    /// Another worker has its turn.
    pub(super) fn begin_turn(&mut self) {
        self.turns.push(self.windows.len());
    }

    /// Whether there can be more.
    pub(super) fn go_on(&self, lease: &ControlLease<'_>) -> bool {
        match self.runner {
            Runner::Nobody => false,
            Runner::Worker => true,
            Runner::ControlWorker => lease.is_there(),
        }
    }

    /// Whether the key draws one before the window at `place`, which is counted.
    pub(super) fn is_next(&mut self, seeds: &Seeds, place: WindowId) -> bool {
        let pace = match self.of_turn() {
            ..MANY => ControlPace::Usual,
            _ => ControlPace::Sparse,
        };
        let is_next = seeds.control_comes_first(place, self.since, pace);
        // The window that it comes before is the first behind it.
        self.since = if is_next { 1 } else { self.since + 1 };
        is_next
    }

    /// Whether the present worker, one of `workers`, is to have more before its end, where the key
    /// has drawn few.
    pub(super) fn are_few(&self, workers: usize) -> bool {
        let turns = u32::try_from(self.turns.len().min(workers)).unwrap_or(u32::MAX);
        let patience = PATIENCE * turns / u32::try_from(workers).unwrap_or(u32::MAX);
        let each = |of_case: usize, of_worker| of_case.div_ceil(workers).max(of_worker);
        let windows = self.of_turn();
        windows < each(FEWEST, FEWEST_EACH) || windows < each(ENOUGH, ENOUGH_EACH) && self.caught_up_for < patience
    }

    /// For the judge.
    pub(super) fn seen<'s>(&'s self, lease: &'s ControlLease<'_>) -> ControlWindows<'s> {
        ControlWindows {
            windows: &self.windows,
            turns: &self.turns,
            alone: &self.alone,
            shortest_claim_ns: lease.shortest_claim_ns,
            rivals: lease.rivals,
            loss: lease.loss.as_deref().filter(|_| self.runner == Runner::ControlWorker),
        }
    }

    fn of_turn(&self) -> usize {
        self.windows.len() - self.turns.last().copied().unwrap_or_default()
    }
}
