//! Counts with a limit.

use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;

use thiserror::Error;

use super::Value;
use gpubench_protocol::wire::MAX_OUTPUTS;
use gpubench_stats::MOST_WORKERS;

/// A number from 1 to `MOST`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Count<const MOST: usize>(NonZeroUsize);

/// A number of samples of a case.
pub type SampleCount = Count<{ u32::MAX as usize }>;

/// A number of fresh workers for a case.
pub type WorkerCount = Count<MOST_WORKERS>;

/// A number of calls in a sample. Each has at least an output.
pub type CallCount = Count<MAX_OUTPUTS>;

/// A number of threads of the CPU device.
pub type ThreadCount = Count<1024>;

impl<const MOST: usize> Value for Count<MOST> {}

impl<const MOST: usize> Count<MOST> {
    /// Returns the number.
    pub fn number(self) -> NonZeroUsize {
        self.0
    }

    /// Creates a count.
    ///
    /// # Panics
    /// The number is 0 or above `MOST`.
    pub const fn new(number: usize) -> Self {
        assert!(number <= MOST, "too many");
        Self(NonZeroUsize::new(number).expect("at least one"))
    }
}

impl<const MOST: usize> fmt::Display for Count<MOST> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// An invalid count.
#[derive(Debug, Error)]
#[error("must be a whole number from 1 to {most}")]
pub struct InvalidCount {
    most: usize,
}

impl<const MOST: usize> FromStr for Count<MOST> {
    type Err = InvalidCount;

    fn from_str(text: &str) -> Result<Self, InvalidCount> {
        let number = text.parse().ok().filter(|number: &NonZeroUsize| number.get() <= MOST);
        number.map(Self).ok_or(InvalidCount { most: MOST })
    }
}
