//! Workers that rest between two measurements of a case.

use crate::clients::WorkerClient;
use gpubench_protocol::window::WindowOwner;

/// Sealed workers of a case that rest between its measurements in two modes. Their devices stay
/// open, because opening one takes longer than a measurement needs otherwise. They hold no buffers
/// of the case, and run no code but the tool's own outside of the device.
///
/// Each measurement still has several processes. A measurement that did not pass leaves none.
#[derive(Debug, Default)]
pub struct IdleWorkers {
    of_candidate: Vec<WorkerClient>,
    of_baseline: Vec<WorkerClient>,
    /// Whether another measurement of the case follows.
    another: Another,
}

/// Whether another measurement of a case follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Another {
    /// It was the last.
    #[default]
    No,
    /// The case is measured in another mode.
    Follows,
}

impl IdleWorkers {
    /// Sets whether another measurement follows the next one.
    pub fn before(&mut self, another: Another) -> &mut IdleWorkers {
        self.another = another;
        self
    }

    /// Ends the resting workers.
    pub(super) fn dismiss(&mut self) {
        self.of_candidate.clear();
        self.of_baseline.clear();
    }

    /// Returns whether workers rest after their round.
    pub(super) fn another(&self) -> Another {
        self.another
    }

    /// Takes the workers of a side.
    pub(super) fn take(&mut self, owner: WindowOwner) -> Vec<WorkerClient> {
        self.of(owner).map(std::mem::take).unwrap_or_default()
    }

    /// Adds workers of a side.
    pub(super) fn add(&mut self, owner: WindowOwner, workers: Vec<WorkerClient>) {
        if let Some(idle) = self.of(owner) {
            idle.extend(workers);
        }
    }

    fn of(&mut self, owner: WindowOwner) -> Option<&mut Vec<WorkerClient>> {
        match owner {
            WindowOwner::Candidate => Some(&mut self.of_candidate),
            WindowOwner::Baseline => Some(&mut self.of_baseline),
            WindowOwner::Control => None,
        }
    }
}
