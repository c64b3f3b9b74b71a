//! Submissions of a worker to its device, counted from outside of it.

use std::fmt;

/// Counts what processes submit to their devices, whatever way it takes. It keeps the reason where
/// it cannot.
pub trait SubmissionCounter: fmt::Debug + Sync {
    /// Begins to count the submissions of a process, if it can.
    fn begin<'c>(&'c self, process: u32) -> Option<Box<dyn SubmissionCount + 'c>>;
}

/// The submissions of a process since the count began.
pub trait SubmissionCount {
    /// Returns their number, if it is known.
    fn end(self: Box<Self>) -> Option<u64>;
}
