//! Locked clocks: the only setting of a device that the tool changes, and only on request.
//!
//! [`ClockSetting`] is the request, [`ClockControl`] is what a device can do, and [`lock`] leads
//! from one to the other. A lock outlives the process that sets it, so somebody must remove it.
#![forbid(unsafe_code)]

mod control;
mod lock;
mod nvml;
mod setting;

#[cfg(test)]
mod fake;
#[cfg(test)]
mod tests;

pub use control::{ClockControl, ClockError};
pub use lock::{LockError, lock};
pub use nvml::NvmlClocks;
pub use setting::{ClockSetting, InvalidClockSetting};
