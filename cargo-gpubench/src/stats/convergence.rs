//! When enough samples have been taken.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why sampling stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum StopReason {
    /// The coefficient of variation fell below its target.
    TargetCv,
    /// The 95 % interval of the median is narrow enough.
    MedianInterval,
    /// The 95 % interval of the median lies within one step of the clock.
    ClockTick,
    /// The coefficient of variation has stopped moving: more samples would not change it.
    Plateau,
    /// The largest number of samples was reached.
    MaxSamples,
    /// The time for sampling was used up.
    MaxTime,
}

impl StopReason {
    /// The word of the machine contract.
    pub const fn as_str(self) -> &'static str {
        match self {
            StopReason::TargetCv => "target-cv",
            StopReason::MedianInterval => "median-interval",
            StopReason::ClockTick => "clock-tick",
            StopReason::Plateau => "plateau",
            StopReason::MaxSamples => "max-samples",
            StopReason::MaxTime => "max-time",
        }
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
