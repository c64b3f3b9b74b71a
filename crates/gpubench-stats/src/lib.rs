//! Statistics as pure functions: when warm-up is over, when enough samples have been taken, and
//! what they say.
//!
//! Nothing here knows a device, a clock or a metric: samples come in as `f64` in whatever unit,
//! elapsed time as a `Duration`. Only `conservation` is about times, in nanoseconds. No input
//! panics; what is not defined for an input is `None`, never NaN.
#![forbid(unsafe_code)]

mod comparison;
mod conservation;
mod convergence;
mod estimate;
mod fence;
mod histogram;
mod interquartile_mean;
mod interval;
mod looks;
mod moments;
mod paired;
mod quantile;
mod share;
mod student;
mod summary;
mod turnout;
mod twin;
mod warmup;

pub use comparison::*;
pub use conservation::*;
pub use convergence::*;
pub use estimate::*;
pub use fence::*;
pub use histogram::*;
pub use interquartile_mean::*;
pub use interval::*;
pub use looks::*;
pub use moments::*;
pub use paired::*;
pub use quantile::*;
pub use share::*;
pub use student::*;
pub use summary::*;
pub use turnout::*;
pub use twin::*;
pub use warmup::*;
