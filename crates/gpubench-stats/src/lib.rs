//! Statistics as pure functions: the end of warm-up, the end of sampling, estimates, intervals and
//! ratios.
//!
//! Nothing here depends on a device, a clock or a metric. Samples are `f64` in any unit, and
//! elapsed time is a `Duration`. Only `conservation` works on times, in nanoseconds. No input
//! causes a panic. An undefined result is `None`, never NaN.
#![forbid(unsafe_code)]

mod comparison;
mod conservation;
mod contest;
mod convergence;
mod counts;
mod divisive;
mod estimate;
mod fence;
mod histogram;
mod interim_analyses;
mod interquartile_mean;
mod interval;
mod level_change;
mod log_ratio;
mod moments;
mod paired;
mod quantile;
mod spent;
mod student;
mod summary;
mod twin;
mod warmup;
mod worker_count;
mod worker_rules;

pub use comparison::*;
pub use conservation::*;
pub use contest::*;
pub use convergence::*;
pub use counts::*;
pub use divisive::*;
pub use estimate::*;
pub use fence::*;
pub use histogram::*;
pub use interim_analyses::*;
pub use interquartile_mean::*;
pub use interval::*;
pub use level_change::*;
pub use log_ratio::*;
pub use moments::*;
pub use paired::*;
pub use quantile::*;
pub use spent::*;
pub use student::*;
pub use summary::*;
pub use twin::*;
pub use warmup::*;
pub use worker_count::*;
pub use worker_rules::*;
