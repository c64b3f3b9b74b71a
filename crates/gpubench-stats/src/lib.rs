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
mod interim_analyses;
mod interquartile_mean;
mod interval;
mod moments;
mod paired;
mod quantile;
mod student;
mod summary;
mod twin;
mod warmup;
mod worker_count;
mod worker_rules;

pub use comparison::*;
pub use conservation::*;
pub use convergence::*;
pub use estimate::*;
pub use fence::*;
pub use histogram::*;
pub use interim_analyses::*;
pub use interquartile_mean::*;
pub use interval::*;
pub use moments::*;
pub use paired::*;
pub use quantile::*;
pub use student::*;
pub use summary::*;
pub use twin::*;
pub use warmup::*;
pub use worker_count::*;
pub use worker_rules::*;
