//! Hardware counters and records of what a GPU does, through CUPTI, which is opened at run time.
//!
//! - `library` finds and opens CUPTI, and has the table of its functions; `parameters` are their
//!   arguments.
//! - `metrics` schedules metrics and evaluates what was counted. `session` counts in a context.
//! - `counter` combines them into a [`Counter`](crate::Counter).
//! - `activity` records when operations began and ended: a [`Tracer`](crate::Tracer).

mod activity;
mod counter;
mod library;
mod metrics;
mod parameters;
mod session;

pub(super) use activity::CuptiTracer;
pub(super) use counter::CuptiCounter;
