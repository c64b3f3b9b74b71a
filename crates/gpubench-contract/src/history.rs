//! The record of a benchmark's history: its medians over the runs on one device.

use serde::{Deserialize, Serialize};

use super::{DeviceIdentity, Revision, SchemaVersion};

/// The medians of a case over the runs on one device, oldest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BenchmarkHistory {
    /// Version of the contract.
    pub schema_version: SchemaVersion,
    /// The device with everything that its times depend on.
    pub device: DeviceIdentity,
    /// The case with its package in front.
    pub case: String,
    /// The relative change that is usual between neighbouring runs; null for fewer than ten runs.
    pub usual_change: Option<f64>,
    /// The runs.
    pub runs: Vec<HistoryRun>,
}

/// A run in a case's history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HistoryRun {
    /// Names the run.
    pub run_id: String,
    /// When it began, as RFC 3339 in UTC.
    pub started_at: String,
    /// Version of the tool.
    pub tool_version: String,
    /// Where the sources stood; null outside of a git repository.
    pub revision: Option<Revision>,
    /// Median in nanoseconds.
    pub median_ns: f64,
    /// Bounds of the 95 % interval of the median, as wide as the workers differ.
    pub ci95_ns: [f64; 2],
    /// Number of samples.
    pub n: u64,
    /// Number of fresh workers that they come from.
    pub workers: u64,
}
