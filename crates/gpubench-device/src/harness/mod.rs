//! The tool's own kernels on a device: `kernels` queues those that change or digest memory, `batch`
//! those that look at it and report, many looks to one wait and one read.

mod batch;
mod kernels;

pub use batch::{Batch, Captured, DigestSlot, DigestSum, Finding, Findings, Nanoseconds, PendingCopy, Ticket};
pub use kernels::{Comparison, Coverage, Harness, Revealed, Touch, Touched};
