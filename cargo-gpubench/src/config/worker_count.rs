//! Numbers of workers.

use std::{fmt, num::NonZeroUsize, str::FromStr};

use thiserror::Error;

use gpubench_stats::MOST_WORKERS;

/// A number of fresh workers for a case, from 1 to 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerCount(NonZeroUsize);

impl WorkerCount {
    /// The number.
    pub fn number(self) -> NonZeroUsize {
        self.0
    }

    /// So many workers.
    ///
    /// # Panics
    /// When there are none, or more than 64.
    pub const fn of(workers: usize) -> Self {
        assert!(workers <= MOST_WORKERS, "at most 64 workers");
        Self(NonZeroUsize::new(workers).expect("at least one worker"))
    }
}

impl fmt::Display for WorkerCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A text that is no number of workers.
#[derive(Debug, Error)]
#[error("a number of workers is a whole number from 1 to {MOST_WORKERS}")]
pub struct InvalidWorkerCount;

impl FromStr for WorkerCount {
    type Err = InvalidWorkerCount;

    fn from_str(text: &str) -> Result<Self, InvalidWorkerCount> {
        let workers = text
            .parse()
            .ok()
            .filter(|workers: &NonZeroUsize| workers.get() <= MOST_WORKERS);
        workers.map(Self).ok_or(InvalidWorkerCount)
    }
}
