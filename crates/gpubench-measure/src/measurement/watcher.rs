//! Observers of a measurement.

use gpubench_device::telemetry::{EnergyReading, Throttling};

/// Observes the measurement of a case.
pub trait Watcher {
    /// Receives the samples of each worker so far, after each new one.
    fn sampled(&mut self, of_workers: &[&[f64]]);

    /// Returns what is known about throttling after the latest sample.
    fn throttling(&mut self) -> Throttling {
        Throttling::Unknown
    }

    /// The latest samples were thrown away and are taken again.
    fn thrown_away(&mut self, _: usize) {}

    /// Waits until the device's energy counter moves, and returns its new value, if it has one.
    fn energy(&mut self) -> Option<EnergyReading> {
        None
    }

    /// The case is measured a second time. Earlier samples do not count any more.
    fn begins_again(&mut self) {}

    /// The second measurement failed. The earlier samples count again.
    fn goes_back(&mut self) {}

    /// Returns how many other processes have computed on the device since the case began, if known.
    fn other_clients(&mut self) -> Option<u32> {
        None
    }
}

/// Receives the samples only.
impl<F: FnMut(&[&[f64]])> Watcher for F {
    fn sampled(&mut self, of_workers: &[&[f64]]) {
        self(of_workers);
    }
}
