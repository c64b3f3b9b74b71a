//! Statistics as pure functions: when warm-up is over, when enough samples have been taken, and what they say.
//!
//! Nothing here knows a device or a clock: samples come in as nanoseconds in `f64`, elapsed time as a `Duration`. No input panics;
//! what is not defined for an input is `None`, never NaN.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod binomial;
mod case_median;
mod comparison;
mod conservation;
mod convergence;
mod fence;
mod histogram;
mod interquartile_mean;
mod interval;
mod looks;
mod moments;
mod paired;
mod quantile;
mod share;
mod spread;
mod student;
mod summary;
mod turnout;
mod warmup;
mod worker_interval;

pub use case_median::*;
pub use comparison::*;
pub use conservation::*;
pub use convergence::*;
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
pub use warmup::*;
pub use worker_interval::*;
