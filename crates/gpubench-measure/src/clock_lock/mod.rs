//! Locked clocks that are unlocked again however the run ends.
//!
//! A lock outlives the process that sets it. So a process of its own, the guardian, sets it: this
//! program with the hidden verb `__clocks`, which calls [`guard`]. It removes the lock when its
//! standard input closes. The broker holds the other end and writes nothing to it, and the system
//! closes that end even if the broker is killed.

mod guardian;
mod order;
mod take;

pub use guardian::{GuardianError, guard};
pub use order::ClockOrder;
pub use take::{ClockLock, ClockLockError, StillLocked};
