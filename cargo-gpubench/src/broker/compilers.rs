//! The compiler of kernels for the device of a run.

use gpubench::catalog::DeviceKind;

use super::options::DeviceOptions;
use crate::build::kernels::{Compiler, GpuCompiler, GpuCompilers, HostCompiler, NamedCompilers};
use crate::device::Facts;
use crate::device::cuda::Architecture;
use crate::error::ExpectedError;

/// The host's C++ compiler for the CPU device, NVRTC and nvcc for a GPU.
///
/// # Errors
/// If the CPU device has no compiler, or `--nvrtc` names none. A GPU without a compiler is no error here: images that are compiled already need
/// none.
pub(super) fn compiler_for(facts: &Facts, options: &DeviceOptions) -> Result<Box<dyn Compiler>, ExpectedError> {
    match facts.device.kind {
        DeviceKind::Cpu => Ok(Box::new(HostCompiler::find()?)),
        DeviceKind::Cuda => {
            let tool = std::env::current_exe().map_err(|source| ExpectedError::Internal {
                what: "cannot find this program's own executable".to_owned(),
                source: source.into(),
            })?;
            let named = NamedCompilers {
                nvrtc: options.nvrtc.clone(),
                nvcc: None,
            };
            let compilers = GpuCompilers::find(&tool, &named)?;
            let architecture = Architecture::of_capability(facts.device.capability);
            Ok(Box::new(GpuCompiler::new(architecture, compilers)))
        }
    }
}
