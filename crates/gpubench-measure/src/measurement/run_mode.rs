//! What cases are run for.

use std::time::Duration;

/// What cases are run for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunMode {
    /// To be measured.
    Measure,
    /// `--test`: to be checked by one call.
    Test,
    /// `--profile-time`: to be called again and again for so long, for someone else to look at.
    Profile(Duration),
}

impl RunMode {
    /// Whether times come of it, that are worth a control worker, a clock and several fresh workers.
    pub fn is_timed(self) -> bool {
        self == Self::Measure
    }
}
