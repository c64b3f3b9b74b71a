//! A fake GPU whose readings a test sets.

use std::cell::RefCell;
use std::rc::Rc;

use super::{Gauge, Reading, ThrottleReasons};

/// The values to read.
#[derive(Clone, Debug, Default)]
pub(super) struct Shown {
    pub(super) reading: Reading,
    pub(super) uncorrected_errors: Option<u64>,
    pub(super) xids: Option<Vec<u64>>,
    pub(super) compute_processes: Option<Vec<u32>>,
    pub(super) persistence: Option<bool>,
    /// Joules between two values of the energy counter.
    pub(super) energy_step_j: Option<f64>,
    pub(super) energy_readings: usize,
    /// How often the throttle reasons alone were read.
    pub(super) readings: usize,
}

/// A gauge, and the handle through which a test sets its values.
#[derive(Clone, Debug, Default)]
pub(super) struct FakeGauge(pub(super) Rc<RefCell<Shown>>);

impl Gauge for FakeGauge {
    fn reading(&mut self) -> Reading {
        self.0.borrow().reading.clone()
    }

    fn clock_hz(&mut self) -> Option<f64> {
        self.0.borrow().reading.clock_hz
    }

    fn throttle_reasons(&mut self) -> Option<ThrottleReasons> {
        let mut shown = self.0.borrow_mut();
        shown.readings += 1;
        shown.reading.throttle_reasons.clone()
    }

    fn energy_j(&mut self) -> Option<f64> {
        let mut shown = self.0.borrow_mut();
        shown.energy_readings += 1;
        // The counter moves at every fifth reading.
        Some((shown.energy_readings / 5) as f64 * shown.energy_step_j?)
    }

    fn uncorrected_errors(&mut self) -> Option<u64> {
        self.0.borrow().uncorrected_errors
    }

    fn xids(&mut self) -> Option<Vec<u64>> {
        self.0.borrow_mut().xids.as_mut().map(std::mem::take)
    }

    fn compute_processes(&mut self) -> Option<Vec<u32>> {
        self.0.borrow().compute_processes.clone()
    }

    fn is_persistent(&mut self) -> Option<bool> {
        self.0.borrow().persistence
    }
}
