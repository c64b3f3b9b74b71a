//! The record of the results of several devices.

use serde::{Deserialize, Serialize};

use super::words::words;
use super::{Cause, ComparedRun, Grade, Metric, Mode, Params, SchemaVersion, Verdict};

/// The results of runs on different devices, a row for each result and a column for each run. It
/// compares devices, and says nothing about a change of the code.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct DeviceMatrix {
    /// Version of the schema.
    pub schema_version: SchemaVersion,
    /// The runs, in the order in which they are given. Each is there once.
    pub columns: Vec<DeviceColumn>,
    /// What else differs between the runs, and is part of every ratio: revision, version of the
    /// tool, driver, flush of the cache, locked clock, compiler.
    pub differences: Vec<String>,
    /// The results, in the order of the first run that has them. Those without a value or a failure
    /// in any run are left out.
    pub rows: Vec<DeviceRow>,
}

/// A run on one of the devices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct DeviceColumn {
    /// The device: `NVIDIA H200`. If several runs have a device of this name, also the host, the
    /// GPU's UUID or the name of the run, the first that tells them apart.
    pub title: String,
    /// The run.
    pub run: ComparedRun,
    /// Name of the host. Null if not known.
    pub host: Option<String>,
}

/// A case in one of its modes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct DeviceRow {
    /// Package of the benchmark.
    pub package: String,
    /// Module path and function.
    pub benchmark: String,
    /// Axis values.
    pub params: Params,
    /// Name of the case.
    pub case: String,
    /// How each call was measured.
    pub mode: Mode,
    /// What the values measure.
    pub metric: Metric,
    /// How the work differs between the devices: whose code ran, kernels, outputs, counters. Null
    /// if nothing is known to differ.
    pub remark: Option<String>,
    /// The result of each run, in the order of `columns`. Null if the run has no such result.
    pub cells: Vec<Option<DeviceCell>>,
}

/// The result of a case on one device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct DeviceCell {
    /// How the case ended.
    pub verdict: Verdict,
    /// Why it did not pass. Null if it passed.
    pub cause: Option<Cause>,
    /// How far the value can be trusted.
    pub grade: Option<Grade>,
    /// The value. Null if the case did not pass.
    pub value: Option<f64>,
    /// Bounds of the 95 % confidence interval of the value. Null for a single sample.
    pub ci95: Option<[f64; 2]>,
    /// The value in relation to the best of the row. Null without a value, and if no other run has
    /// one.
    pub standing: Option<Standing>,
    /// The value divided by the best of the row. Null if `standing` is, and if the best is zero.
    pub ratio: Option<f64>,
}

words! {
    /// The value of a device in relation to the best of the row.
    pub enum Standing {
        /// It is the best.
        Best = "best",
        /// Its interval overlaps that of the best, so the order may be chance.
        Tied = "tied",
        /// It is worse than the best.
        Worse = "worse",
    }
}
