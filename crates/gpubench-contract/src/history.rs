//! The record of a benchmark's history: its figures over the runs on one device.

use serde::{Deserialize, Serialize};

use super::{DeviceIdentity, Metric, Revision, SchemaVersion};

/// The figures of a case over the runs on one device, oldest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct BenchmarkHistory {
    /// Version of the contract.
    pub schema_version: SchemaVersion,
    /// The device with everything that its times depend on.
    pub device: DeviceIdentity,
    /// The case with its package in front.
    pub case: String,
    /// What the values are values of.
    pub metric: Metric,
    /// The relative change that is usual between neighbouring runs; null for fewer than ten runs.
    pub usual_change: Option<f64>,
    /// The runs.
    pub runs: Vec<HistoryRun>,
}

/// A run in a case's history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct HistoryRun {
    /// Names the run.
    pub run_id: String,
    /// When it began, as RFC 3339 in UTC.
    pub started_at: String,
    /// Version of the tool.
    pub tool_version: String,
    /// Where the sources stood; null outside of a git repository.
    pub revision: Option<Revision>,
    /// The case's `value` in that run.
    pub value: f64,
    /// Bounds of its 95 % interval.
    pub ci95: [f64; 2],
    /// Number of samples.
    pub n: u64,
    /// Number of fresh workers that they come from.
    pub workers: u64,
}
