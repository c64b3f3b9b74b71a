//! The state of a GPU during its measurements: clocks, temperature, power, throttle reasons,
//! errors, other processes.
//!
//! [`Telemetry`] follows a run case by case and reads through a [`Gauge`]; [`nvml`] is the real
//! one. NVML needs no context on the GPU, so the broker can use it. Values that cannot be read are
//! unknown; they never fail a run.
#![forbid(unsafe_code)]

mod case;
mod clients;
mod energy;
mod gauge;
pub mod nvml;
mod throttle;

#[cfg(test)]
mod fake;
#[cfg(test)]
mod tests;

pub use case::{Observation, Telemetry, ThrottledSamples, Throttling};
pub use energy::EnergyReading;
pub use gauge::{Gauge, Reading};
pub use throttle::{ThrottleReason, ThrottleReasons, words};
