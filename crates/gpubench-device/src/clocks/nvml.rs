//! Clocks of a GPU through NVML.

use nvml_wrapper::Device;
use nvml_wrapper::enum_wrappers::device::{Clock, ClockLimitId};
use nvml_wrapper::enums::device::GpuLockedClocksSetting;
use nvml_wrapper::error::NvmlError;

use super::{ClockControl, ClockError};
use crate::telemetry::nvml::library;

/// The clocks of one GPU.
pub struct NvmlClocks {
    device: Device<'static>,
}

impl NvmlClocks {
    /// Opens the GPU with a UUID such as `GPU-…`.
    ///
    /// # Errors
    /// When the library is missing, or finds no such GPU.
    pub fn open(uuid: &str) -> Result<NvmlClocks, String> {
        let nvml = library().map_err(|error| gpubench_diagnostic::chain(error))?;
        let device = nvml.device_by_uuid(uuid);
        let device = device.map_err(|error| gpubench_diagnostic::chain(&error))?;
        Ok(NvmlClocks { device })
    }
}

impl ClockControl for NvmlClocks {
    /// Returns the clocks that go with the highest memory clock, at which kernels run.
    fn supported(&mut self) -> Result<Vec<u32>, ClockError> {
        let memory = self.device.supported_memory_clocks()?;
        let highest = memory.into_iter().max().ok_or(ClockError::NotSupported)?;
        Ok(self.device.supported_graphics_clocks(highest)?)
    }

    fn usual(&mut self) -> Result<u32, ClockError> {
        Ok(self.device.default_applications_clock(Clock::Graphics)?)
    }

    fn now(&mut self) -> Result<u32, ClockError> {
        Ok(self.device.clock_info(Clock::SM)?)
    }

    fn lock_rated(&mut self) -> Result<(), ClockError> {
        Ok(self.device.set_gpu_locked_clocks(GpuLockedClocksSetting::Symbolic {
            lower_bound: ClockLimitId::Tdp,
            upper_bound: ClockLimitId::Tdp,
        })?)
    }

    fn lock(&mut self, megahertz: u32) -> Result<(), ClockError> {
        Ok(self.device.set_gpu_locked_clocks(GpuLockedClocksSetting::Numeric {
            min_clock_mhz: megahertz,
            max_clock_mhz: megahertz,
        })?)
    }

    fn unlock(&mut self) -> Result<(), ClockError> {
        Ok(self.device.reset_gpu_locked_clocks()?)
    }
}

impl From<NvmlError> for ClockError {
    fn from(error: NvmlError) -> ClockError {
        match error {
            NvmlError::NoPermission => ClockError::NotPermitted,
            // Old drivers lack the functions.
            NvmlError::NotSupported | NvmlError::FunctionNotFound | NvmlError::FailedToLoadSymbol(_) => {
                ClockError::NotSupported
            }
            NvmlError::InvalidArg => ClockError::InvalidValue,
            other => ClockError::Other(gpubench_diagnostic::chain(&other)),
        }
    }
}
