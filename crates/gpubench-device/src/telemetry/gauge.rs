//! What can be read of a GPU without a context on it.

use super::{ThrottleReasons, words};
use gpubench_contract::GpuState;

/// A GPU's state at one moment. What the GPU or the driver does not tell is `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// Clock of the multiprocessors in hertz.
    pub clock_hz: Option<f64>,
    /// Clock of the memory in hertz.
    pub memory_clock_hz: Option<f64>,
    /// Temperature in degrees Celsius.
    pub temperature_c: Option<f64>,
    /// Power in watts.
    pub power_w: Option<f64>,
    /// Why clocks are held down.
    pub throttle_reasons: Option<ThrottleReasons>,
}

impl Reading {
    /// The same for the machine contract.
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

/// One GPU's instruments. Reading them changes nothing.
pub trait Gauge {
    /// Clocks, temperature, power and throttle reasons.
    fn reading(&mut self) -> Reading;

    /// The throttle reasons alone, as fast as they can be had.
    fn throttle_reasons(&mut self) -> Option<ThrottleReasons>;

    /// Memory errors since the driver was loaded that the hardware could not correct.
    fn uncorrected_errors(&mut self) -> Option<u64>;

    /// Xid errors since this was last asked; `None` where the driver does not tell.
    fn xids(&mut self) -> Option<Vec<u64>>;

    /// Process numbers of everyone with a compute context, as the driver sees them.
    fn compute_processes(&mut self) -> Option<Vec<u32>>;

    /// Whether the driver stays loaded while nobody uses the GPU. Where it does not, the GPU's
    /// first user waits for it, and finds it with cold clocks.
    fn is_persistent(&mut self) -> Option<bool>;
}
