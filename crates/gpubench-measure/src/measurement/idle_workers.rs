//! Workers that rest between two measurements of a case.

use std::collections::HashMap;

use crate::clients::WorkerClient;
use gpubench_protocol::window::WindowOwner;

/// Sealed workers of a case that rest between its measurements in two modes. Their devices stay
/// open, because opening one takes longer than a measurement needs otherwise. They hold no buffers
/// of the case, and run no code but the tool's own outside of the device.
///
/// Each measurement still has several processes. A measurement that did not pass leaves none.
#[derive(Debug, Default)]
pub struct IdleWorkers {
    of_arms: HashMap<WindowOwner, Vec<WorkerClient>>,
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
        self.of_arms.clear();
    }

    /// Returns whether workers rest after their round.
    pub(super) fn another(&self) -> Another {
        self.another
    }

    /// Takes the workers of a case.
    pub(super) fn take(&mut self, owner: WindowOwner) -> Vec<WorkerClient> {
        self.of_arms.remove(&owner).unwrap_or_default()
    }

    /// Adds workers of a case.
    pub(super) fn add(&mut self, owner: WindowOwner, workers: Vec<WorkerClient>) {
        self.of_arms.entry(owner).or_default().extend(workers);
    }
}
