//! Times of the parts of a call.

use serde::{Deserialize, Serialize};

/// Times of a part of a call, in nanoseconds. They come from windows of their own, with an event
/// before and after each part, so they include the cost of an empty measurement
/// (`event_overhead_ns`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct PartTimes {
    /// Number of times.
    pub n: u64,
    /// Median.
    pub median_ns: f64,
    /// First quartile.
    pub q1_ns: f64,
    /// Third quartile.
    pub q3_ns: f64,
    /// Minimum.
    pub min_ns: f64,
    /// Maximum.
    pub max_ns: f64,
}

/// Times of a step of a launch plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct StepTimes {
    /// The kernel that it launches; `memset` or `copy` for the other steps.
    pub step: String,
    /// Its times.
    pub times: PartTimes,
}
