//! The purpose of a run.

use std::time::Duration;

/// The purpose of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunMode {
    /// Measure the cases.
    Measure,
    /// `--test`: check each case with a few calls.
    Test,
    /// `--profile-time`: repeat each call for this time, for a profiler.
    Profile(Duration),
    /// `--audit`: repeat each call for this time, and often enough to see what grows.
    Audit(Duration),
}

impl RunMode {
    /// Whether the run reports times. Only then does it need a control worker, a clock and several
    /// workers.
    pub fn is_timed(self) -> bool {
        self == Self::Measure
    }
}
