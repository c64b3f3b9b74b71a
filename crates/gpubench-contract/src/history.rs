//! The record of a benchmark's history.

use serde::{Deserialize, Serialize};

use super::words::words;
use super::{ChangeVerdict, DeviceIdentity, Metric, Mode, Reading, Revision, SchemaVersion};

/// The history of a case in one mode on one device, a single GPU, oldest run first.
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
    /// UUID of the GPU. Null on the CPU device, and if it is not known, as of runs of older
    /// versions of the tool.
    #[serde(default)]
    pub gpu: Option<String>,
    /// The history of the same case before the device, the driver, the clocks or the GPU changed.
    /// Null if there is none.
    #[serde(default)]
    pub known_break: Option<KnownBreak>,
    /// The changes of level, oldest first.
    #[serde(default)]
    pub changes: Vec<HistoryChange>,
    /// The runs.
    pub runs: Vec<HistoryRun>,
}

/// A change between two histories of a case that is not a change of its code. Values before and
/// after it are not compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct KnownBreak {
    /// What changed: `driver`, or `GPU`.
    pub what: String,
    /// Its value before. Empty if not known.
    pub from: String,
    /// Its value in this history. Empty if not known.
    pub to: String,
    /// The case's level after the break divided by that before.
    pub ratio: f64,
    /// The same for its twin. Null without enough times of the twin.
    pub drift: Option<f64>,
}

/// A change of the level of a case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct HistoryChange {
    /// Position in `runs` of the first run with the new level.
    pub run: u64,
    /// The level before, the median of the nearest runs.
    pub before: f64,
    /// The level after.
    pub after: f64,
    /// The level of the twin after the change divided by the one before. Null if fewer than three
    /// runs on a side have a time of the twin.
    pub drift: Option<f64>,
    /// How probable it is that the runs before and after differ as much by chance, if the position
    /// had been chosen beforehand.
    pub p_value: f64,
    /// What the change comes from, as far as the twin tells.
    pub origin: ChangeOrigin,
    /// The last commit before the change that was measured without local changes. Null if there is
    /// none.
    pub last_commit_before: Option<String>,
    /// The first such commit after the change.
    pub first_commit_after: Option<String>,
    /// What alternating between both commits showed. Null if they were not measured.
    pub confirmation: Option<ChangeConfirmation>,
}

/// What alternating between the commits before and after a change showed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct ChangeConfirmation {
    /// The verdict of the comparison.
    pub verdict: ChangeVerdict,
    /// The value of the commit after divided by that of the commit before. Null if the verdict
    /// needs none.
    pub ratio: Option<f64>,
    /// Number of commits that the second commit has and the first one lacks. One means that the
    /// second commit is the guilty one. Null if not known.
    pub commits: Option<u64>,
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
    /// The time of the case's twin in the run, in nanoseconds. Null if not known.
    #[serde(default)]
    pub twin_ns: Option<f64>,
    /// Number of samples.
    pub n: u64,
    /// Number of fresh workers that took the samples.
    pub workers: u64,
}
