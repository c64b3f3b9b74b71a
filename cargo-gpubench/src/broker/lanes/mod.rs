//! The lanes of a run: jobs, and the processes that measure them one at a time.

mod case_message;
pub(super) mod context;
mod division;
mod earlier_modes;
pub(super) mod expected;
pub(super) mod job;
pub(super) mod lane;
mod queue;
mod result_parts;
pub(super) mod results;
pub(super) mod roles;
pub(super) mod schedule;
mod session;
pub(super) mod station;
pub(super) mod units;
mod watcher;
