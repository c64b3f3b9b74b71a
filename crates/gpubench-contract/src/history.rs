//! The record of a benchmark's history.

use serde::{Deserialize, Serialize};

use super::words::words;
use super::{DeviceIdentity, Metric, Mode, Reading, Revision, SchemaVersion};

/// The history of a case in one mode on one device, oldest run first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct BenchmarkHistory {
    /// Version of the schema.
    pub schema_version: SchemaVersion,
    /// The device, with everything that its times depend on.
    pub device: DeviceIdentity,
    /// Name of the case, with its package in front.
    pub case: String,
    /// How each call was measured. Missing in records of older versions of the tool.
    #[serde(default = "Reading::first_mode")]
    pub mode: Mode,
    /// What the values measure.
    pub metric: Metric,
    /// The relative change that is normal between consecutive runs, as a fraction. Null with fewer
    /// than ten runs.
    pub usual_change: Option<f64>,
    /// The runs.
    pub runs: Vec<HistoryRun>,
}

words! {
    /// What a change of level comes from, as far as the twin tells.
    pub enum ChangeOrigin {
        /// The case: its twin did not change as it did, or there is no twin.
        Case = "case",
        /// The machine: the twin changed too, which explains the change.
        Machine = "machine",
    }
}

/// A run in a case's history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct HistoryRun {
    /// ID of the run.
    pub run_id: String,
    /// Start of the run, as RFC 3339 in UTC.
    pub started_at: String,
    /// Version of the tool.
    pub tool_version: String,
    /// Revision of the sources. Null outside a git repository.
    pub revision: Option<Revision>,
    /// The case's `value` in the run.
    pub value: f64,
    /// Bounds of the 95 % confidence interval of `value`.
    pub ci95: Option<[f64; 2]>,
    /// Number of samples.
    pub n: u64,
    /// Number of fresh workers that took the samples.
    pub workers: u64,
}
