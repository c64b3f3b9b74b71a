//! Hardware counters of kernels, through CUPTI's range profiler, which is opened at run time.
//!
//! - `library` finds and opens CUPTI, and has the table of its functions; `parameters` are their
//!   arguments.
//! - `metrics` schedules metrics and evaluates what was counted. `session` counts in a context.
//! - `counter` combines them into a [`Counter`](crate::Counter).

mod counter;
mod library;
mod metrics;
mod parameters;
mod session;

pub(super) use counter::CuptiCounter;
