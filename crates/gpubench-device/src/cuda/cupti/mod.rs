//! Hardware counters and records of what a GPU does, through CUPTI, which is opened at run time.
//!
//! - `library` finds and opens CUPTI, and has the table of its functions; `parameters` are their
//!   arguments.
//! - `metrics` schedules metrics and evaluates what was counted. `session` counts in a context.
//! - `counter` combines them into a [`Counter`](crate::Counter).
//! - `activity` records when operations began and ended: a [`Tracer`](crate::Tracer).
//! - `allocations` follows the memory of host code by its records: another counter.

mod activity;
mod allocations;
mod counter;
mod library;
mod metrics;
mod parameters;
mod session;

pub(super) use activity::CuptiTracer;
pub(super) use allocations::CuptiAllocations;
pub(super) use counter::CuptiCounter;
