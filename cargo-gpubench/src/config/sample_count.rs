//! Numbers of samples.

use std::{fmt, num::NonZeroU32, str::FromStr};

use thiserror::Error;

/// A number of samples, at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SampleCount(NonZeroU32);

impl SampleCount {
    /// The number.
    pub fn number(self) -> u32 {
        self.0.get()
    }

    /// So many samples.
    ///
    /// # Panics
    /// When there are none.
    pub const fn of(samples: u32) -> Self {
        Self(NonZeroU32::new(samples).expect("at least one sample"))
    }
}

impl fmt::Display for SampleCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A text that is no number of samples.
#[derive(Debug, Error)]
#[error("a number of samples is a whole number from 1 to {}", u32::MAX)]
pub struct InvalidSampleCount;

impl FromStr for SampleCount {
    type Err = InvalidSampleCount;

    fn from_str(text: &str) -> Result<Self, InvalidSampleCount> {
        text.parse().map(Self).map_err(|_| InvalidSampleCount)
    }
}
