//! What a GPU's own instruments show round the samples.

use serde::{Deserialize, Serialize};

/// A GPU round the samples of a case.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct GpuEnvironment {
    /// Before the first window; in the run's first record, before the run.
    pub before: GpuState,
    /// After the last window; null in the run's first record.
    pub after: Option<GpuState>,
    /// Whether the driver stays loaded while nobody uses the GPU.
    pub persistence_mode: Option<bool>,
    /// Memory errors since the driver was loaded that could not be corrected.
    pub uncorrected_ecc_errors: Option<u64>,
    /// Memory errors during the case that could not be corrected.
    pub new_uncorrected_ecc_errors: Option<u64>,
    /// Numbers of the Xid errors that the driver reported during the case.
    pub xids: Option<Vec<u64>>,
    /// Other processes with a compute context on the GPU; null where they cannot be seen, as from
    /// inside of many containers.
    pub other_clients: Option<u64>,
}

/// A GPU at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct GpuState {
    /// Clock of the multiprocessors in hertz.
    pub clock_hz: Option<f64>,
    /// Clock of the memory in hertz.
    pub memory_clock_hz: Option<f64>,
    /// Temperature in degrees Celsius.
    pub temperature_c: Option<f64>,
    /// Power in watts.
    pub power_w: Option<f64>,
    /// Why clocks are held down.
    pub throttle_reasons: Option<Vec<String>>,
}
