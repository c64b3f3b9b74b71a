//! The tool's own kernels. `kernels` queues those that change or digest memory. `batch` queues
//! probes: kernels and copies that report, with one wait and one read for many of them. `judge`
//! decides whether an output passes.

mod batch;
mod judge;
mod kernels;

pub use batch::{Batch, Captured, DigestSlot, DigestSum, Finding, Findings, Nanoseconds, PendingCopy, Ticket};
pub use judge::Judged;
pub use kernels::{
    AccessKind, BufferAccess, Comparison, Coverage, Harness, LineCopy, PoisonPlace, PoisonRow, kernel_names,
};
