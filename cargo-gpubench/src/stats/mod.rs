//! Statistics as pure functions: when enough samples have been taken, and what they say.
//!
//! Nothing here knows a device or a clock: samples come in as nanoseconds in `f64`, the elapsed time as a `Duration`.
#![forbid(unsafe_code)]

mod convergence;

pub use convergence::*;
