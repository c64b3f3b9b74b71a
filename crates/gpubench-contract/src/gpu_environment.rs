//! Sensor readings of a GPU before and after the samples.

use serde::{Deserialize, Serialize};

/// Sensor readings and error counts of a GPU during a case.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct GpuEnvironment {
    /// State before the first window. In the first record of a run, the state before the run.
    pub before: GpuState,
    /// State after the last window. Null in the first record of a run.
    pub after: Option<GpuState>,
    /// Median of the clocks of the multiprocessors that were read right after samples, in hertz.
    /// Null in the first record of a run. Missing in records of older versions of the tool.
    #[serde(default)]
    pub sample_clock_hz: Option<f64>,
    /// Whether the driver stays loaded when no process uses the GPU.
    pub persistence_mode: Option<bool>,
    /// Number of uncorrectable memory errors since the driver was loaded.
    pub uncorrected_ecc_errors: Option<u64>,
    /// Number of uncorrectable memory errors during the case.
    pub new_uncorrected_ecc_errors: Option<u64>,
    /// Numbers of the Xid errors that the driver reported during the case.
    pub xids: Option<Vec<u64>>,
    /// Number of other processes with a compute context on the GPU. Null if they are not visible,
    /// as in many containers.
    pub other_clients: Option<u64>,
}

/// The state of a GPU at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct GpuState {
    /// Clock of the multiprocessors, in hertz.
    pub clock_hz: Option<f64>,
    /// Clock of the memory, in hertz.
    pub memory_clock_hz: Option<f64>,
    /// Temperature, in degrees Celsius.
    pub temperature_c: Option<f64>,
    /// Power draw, in watts.
    pub power_w: Option<f64>,
    /// Reasons why the clocks are reduced.
    pub throttle_reasons: Option<Vec<String>>,
}
