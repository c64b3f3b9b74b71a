//! Submissions of a worker to its device, counted from outside of it.

use std::fmt;

/// Counts what processes submit to their devices, whatever way they take.
pub trait SubmissionCounter: fmt::Debug + Sync {
    /// Begins to count the submissions of a process. `None` if they cannot be counted.
    fn begin(&self, process: u32) -> Option<Box<dyn SubmissionCount>>;
}

/// The submissions of a process since the count began.
pub trait SubmissionCount {
    /// Returns their number. `None` if it is not known.
    fn end(self: Box<Self>) -> Option<u64>;
}
