//! Statistics as pure functions: when warm-up is over, when enough samples have been taken, and what they say.
//!
//! Nothing here knows a device or a clock: samples come in as nanoseconds in `f64`, elapsed time as a `Duration`. No input panics;
//! what is not defined for an input is `None`, never NaN.
#![forbid(unsafe_code)]

mod conservation;
mod convergence;
mod interval;
mod moments;
mod quantile;
mod share;
mod summary;
mod warmup;

pub use conservation::*;
pub use convergence::*;
pub use interval::*;
pub use moments::*;
pub use quantile::*;
pub use share::*;
pub use summary::*;
pub use warmup::*;
