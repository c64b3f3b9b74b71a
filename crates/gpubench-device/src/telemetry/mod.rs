//! The state of a GPU round the measurements on it: clocks, temperature, power, reasons for which
//! clocks are held down, errors, other processes.
//!
//! [`Telemetry`] follows a run case by case and reads through a [`Gauge`], of which [`nvml`] is the
//! real one. NVML needs no context on the GPU, so the broker can read it. What cannot be read is
//! not known: no lack of it fails a run.
#![forbid(unsafe_code)]

mod case;
mod clients;
mod gauge;
pub mod nvml;
mod throttle;

#[cfg(test)]
mod fake;
#[cfg(test)]
mod tests;

pub use case::{Observation, Telemetry, ThrottledSamples};
pub use gauge::{Gauge, Reading};
pub use throttle::{ThrottleReason, ThrottleReasons, words};
