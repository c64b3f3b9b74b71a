//! GPU readings that need no context on the GPU.

use super::{ThrottleReasons, words};
use gpubench_contract::GpuState;

/// The state of a GPU at one moment. Values that the GPU or the driver does not report are `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// Multiprocessor clock in hertz.
    pub clock_hz: Option<f64>,
    /// Memory clock in hertz.
    pub memory_clock_hz: Option<f64>,
    /// Temperature in degrees Celsius.
    pub temperature_c: Option<f64>,
    /// Power in watts.
    pub power_w: Option<f64>,
    /// The throttle reasons.
    pub throttle_reasons: Option<ThrottleReasons>,
}

impl Reading {
    /// Converts the reading to the type of the machine contract.
    pub fn state(&self) -> GpuState {
        GpuState {
            clock_hz: self.clock_hz,
            memory_clock_hz: self.memory_clock_hz,
            temperature_c: self.temperature_c,
            power_w: self.power_w,
            throttle_reasons: self.throttle_reasons.as_ref().map(words),
        }
    }
}

/// The sensors of one GPU. Reading them changes nothing.
pub trait Gauge {
    /// Reads clocks, temperature, power and throttle reasons.
    fn reading(&mut self) -> Reading;

    /// Reads the clock of the multiprocessors alone, in hertz, as fast as possible.
    fn clock_hz(&mut self) -> Option<f64>;

    /// Reads the throttle reasons alone, as fast as possible.
    fn throttle_reasons(&mut self) -> Option<ThrottleReasons>;

    /// Reads the energy that the GPU has used since the driver was loaded, in joules. The driver
    /// updates it some ten to fifty times a second.
    fn energy_j(&mut self) -> Option<f64>;

    /// Returns the number of uncorrectable memory errors since the driver was loaded.
    fn uncorrected_errors(&mut self) -> Option<u64>;

    /// Returns the Xid errors since the last call; `None` if the driver does not report them.
    fn xids(&mut self) -> Option<Vec<u64>>;

    /// Returns the process numbers, as the driver sees them, of all compute contexts.
    fn compute_processes(&mut self) -> Option<Vec<u32>>;

    /// Returns whether the driver stays loaded while the GPU is unused. If not, the first user
    /// waits for the driver and finds low clocks.
    fn is_persistent(&mut self) -> Option<bool>;
}
