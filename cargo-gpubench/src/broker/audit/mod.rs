//! `--audit`: what a call asks of the CUDA driver, seen from outside the worker.
//!
//! An [`Auditor`] watches the driver while other windows of the case run, and [`audit`] makes a
//! record of what it saw. No timed call carries a probe.

mod analysis;
mod auditor;
mod calls;
mod doorbells;
mod outcome;

pub(super) use auditor::Auditor;
use auditor::{AuditError, SeenCalls};
pub(super) use doorbells::Doorbells;
pub(super) use outcome::{Audited, audit, no_audit};
