//! `--audit`: what a call asks of the CUDA driver, seen from outside the worker.
//!
//! [`Probes`] watch the driver while other windows of the case run, and [`add_audit`] makes a
//! record of what they saw. No timed call carries a probe.

mod analysis;
mod calls;
mod doorbells;
mod outcome;
mod probes;

pub(super) use doorbells::Doorbells;
pub(super) use outcome::{Audited, add_audit, add_no_audit};
pub(super) use probes::Probes;
use probes::SeenEvents;
