//! What earlier runs measured.

use super::{BenchmarkComplete, Params};
use crate::store::Revision;

/// What earlier runs on the same device measured for one case, the oldest first.
#[derive(Clone, Debug, PartialEq)]
pub struct Trend {
    /// Package of the benchmark.
    pub package: String,
    /// Module path and function.
    pub benchmark: String,
    /// Axis values.
    pub params: Params,
    /// The runs.
    pub runs: Vec<PastResult>,
}

/// What one earlier run measured.
#[derive(Clone, Debug, PartialEq)]
pub struct PastResult {
    /// When the run began, as RFC 3339 in UTC.
    pub started_at: String,
    /// Where the sources stood.
    pub revision: Option<Revision>,
    /// Median in nanoseconds.
    pub median_ns: f64,
    /// Bounds of its 95 % interval.
    pub ci95_ns: [f64; 2],
}

impl Trend {
    /// Whether it is of the case that a result is of.
    pub fn is_of(&self, result: &BenchmarkComplete) -> bool {
        (&self.package, &self.benchmark, &self.params) == (&result.package, &result.benchmark, &result.params)
    }
}
