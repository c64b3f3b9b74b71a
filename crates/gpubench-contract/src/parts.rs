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

/// What a device does in a call, by the records of CUPTI. They come from windows of their own,
/// since recording slows a call down. Numbers and times are medians. The worker reports them, and
/// nothing checks them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct DeviceWork {
    /// Number of calls that were recorded.
    pub calls: u64,
    /// Number of kernels in a call.
    pub kernels: f64,
    /// Number of copies in a call.
    pub copies: f64,
    /// Number of times that a call sets memory.
    pub fills: f64,
    /// Time of a call in which the device did any of this, in nanoseconds.
    pub busy_ns: f64,
    /// Time from the start of the first to the end of the last, in nanoseconds.
    pub span_ns: f64,
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
