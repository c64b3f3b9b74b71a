//! Numbers of fresh workers.
#![forbid(unsafe_code)]

use std::{fmt, num::NonZeroUsize, str::FromStr};

use thiserror::Error;

/// A number of fresh workers for a case, from 1 to [`WorkerCount::MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WorkerCount(NonZeroUsize);

impl WorkerCount {
    /// The most.
    pub const MAX: usize = 64;

    /// The number.
    pub fn number(self) -> NonZeroUsize {
        self.0
    }

    /// So many workers.
    ///
    /// # Panics
    /// When there are none, or too many.
    pub const fn of(workers: usize) -> Self {
        assert!(workers <= Self::MAX, "too many workers");
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
#[error("a number of workers is a whole number from 1 to {}", WorkerCount::MAX)]
pub struct InvalidWorkerCount;

impl FromStr for WorkerCount {
    type Err = InvalidWorkerCount;

    fn from_str(text: &str) -> Result<Self, InvalidWorkerCount> {
        let number: NonZeroUsize = text.parse().map_err(|_| InvalidWorkerCount)?;
        (number.get() <= Self::MAX)
            .then_some(Self(number))
            .ok_or(InvalidWorkerCount)
    }
}
