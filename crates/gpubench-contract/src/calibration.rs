//! How far off each method is on a machine.

use serde::{Deserialize, Serialize};

use super::words::words;
use super::{Device, Grade, Method, SchemaVersion};

/// How far off each method is on a machine: kernels of known length, and what each method says of
/// them. Printed by `cargo gpubench calibrate`, after the records of its two runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct CalibrationComplete {
    /// Version of the schema.
    pub schema_version: SchemaVersion,
    /// IDs of the two runs.
    pub run_ids: Vec<String>,
    /// The device.
    pub device: Device,
    /// One entry for each kind of time, in the order of the modes.
    pub methods: Vec<MethodCalibration>,
}

/// How far off one kind of time is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct MethodCalibration {
    /// The mode.
    pub mode: Method,
    /// Which of the mode's times.
    pub times: CalibratedTimes,
    /// The empty measurement: the median time between two events with nothing between them, in
    /// nanoseconds. It is part of each sample, and of a call's time if it is divided by the calls
    /// of a sample.
    pub empty_ns: Option<f64>,
    /// The time of a call whose kernel returns at once, in nanoseconds: the empty measurement, the
    /// launch and the end of a kernel. Null if it was not measured.
    pub empty_kernel_ns: Option<f64>,
    /// The kernels of known length, from short to long.
    pub lengths: Vec<KnownLength>,
    /// Differences below this mean nothing, in nanoseconds. It is the largest drift or half of a
    /// confidence interval of the kernels of up to 10 µs. Null if none was measured.
    pub noise_ns: Option<f64>,
    /// Differences below this fraction mean nothing. As `noise_ns`, from the kernels of 100 µs and
    /// more.
    pub noise_share: Option<f64>,
}

/// A kernel of known length, and the times of a method.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct KnownLength {
    /// The least length of each call, in nanoseconds: the kernel spins until the device's clock has
    /// advanced by that much.
    pub least_ns: f64,
    /// The median length of the calls, in nanoseconds, between the kernel's first and last reading
    /// of the device's clock. It is exact to a step of that clock. Null if no call was checked.
    pub known_ns: Option<f64>,
    /// The longest of these lengths, in nanoseconds.
    pub longest_ns: Option<f64>,
    /// Median number of cycles of the multiprocessor's clock during the same time. Null if the
    /// device has no such clock.
    pub cycles: Option<f64>,
    /// Number of calls that a sample is the mean of, in the first run.
    pub calls_per_sample: u64,
    /// What the method says, in each of the two runs.
    pub reported: Vec<ReportedTime>,
    /// The mean of the method's times minus `known_ns`: what the method adds to the kernel.
    pub difference_ns: Option<f64>,
    /// `difference_ns` minus that of the kernel that returns at once: what is left when the launch
    /// and the end of a kernel are known too. Null for that kernel itself.
    pub unexplained_ns: Option<f64>,
    /// The time of the second run minus that of the first, in nanoseconds.
    pub drift_ns: Option<f64>,
    /// Whether the truth lies within the bounds of both runs.
    pub standing: CalibrationStanding,
    /// Why it was not measured. Null if it was.
    pub message: Option<String>,
}

/// What a method says of a kernel in one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct ReportedTime {
    /// The time, in nanoseconds: the reported value, or a median for times of single calls.
    pub time_ns: f64,
    /// First quartile of the samples, in nanoseconds.
    pub q1_ns: f64,
    /// Third quartile of the samples, in nanoseconds.
    pub q3_ns: f64,
    /// Bounds of the 95 % confidence interval of the value. Null for single calls.
    pub ci95_ns: Option<[f64; 2]>,
    /// The grade. Null for single calls, which the referee's clock does not check.
    pub grade: Option<Grade>,
    /// How much of a call may be missing from the time, in nanoseconds: `conservation.bound_ns` of
    /// the result, divided by the calls of a sample. Null if the grade claims nothing.
    pub bound_ns: Option<f64>,
}

words! {
    /// Which times of a mode.
    pub enum CalibratedTimes {
        /// The value of its samples.
        Value = "value",
        /// The times of single calls.
        SingleCalls = "single-calls",
    }
}

words! {
    /// Whether the known length lies within the bounds of a time.
    pub enum CalibrationStanding {
        /// It does. Without a bound, the time is not shorter than the kernel ran.
        Within = "within",
        /// The time is shorter than the kernel ran, by more than the bound and a step of the
        /// device's clock.
        TooShort = "too-short",
        /// The time is longer than the kernel and an empty call together, by more than the bounds
        /// of both and a step of the device's clock.
        TooLong = "too-long",
        /// The kernel was not measured.
        NotMeasured = "not-measured",
    }
}

impl CalibrationStanding {
    /// Returns whether the method is as good as it claims.
    pub fn is_good(self) -> bool {
        self == CalibrationStanding::Within
    }
}
