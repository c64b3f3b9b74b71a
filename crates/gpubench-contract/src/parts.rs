//! Times of the parts of a call.

use serde::{Deserialize, Serialize};

/// Times of a part of a call, or of a single call, in nanoseconds. They come from windows of their
/// own, with an event before and after each part, so they include the cost of an empty measurement
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

/// What the calls of a sample save by being together, in nanoseconds. Work that one call does for
/// others is in the sample, but divided by their number. A call that is made alone has to do all of
/// its own.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct Sharing {
    /// Interquartile mean of the times of a call that is made alone.
    pub alone_ns: f64,
    /// Interquartile mean of the times of a call among the others.
    pub together_ns: f64,
    /// How much longer the tool's own kernel takes alone than among others, since its launch is
    /// then not hidden.
    pub launch_ns: f64,
    /// What is left of the difference: `alone_ns` - `together_ns` - `launch_ns`. Negative if calls
    /// slow each other down.
    pub shared_ns: f64,
    /// `shared_ns` of calls that share nothing can be as high as this. If it is higher, the grade
    /// is `unverified`.
    pub tolerance_ns: f64,
}

impl Sharing {
    /// Whether calls save more than the launch explains.
    pub fn is_likely(&self) -> bool {
        self.shared_ns > self.tolerance_ns
    }
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
    pub memsets: f64,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_shared_only_beyond_the_tolerance() {
        let shared = |shared_ns| Sharing {
            alone_ns: 1.0,
            together_ns: 1.0,
            launch_ns: 1.0,
            shared_ns,
            tolerance_ns: 5.0,
        };
        assert!(shared(5.1).is_likely() && !shared(5.0).is_likely());
    }
}
