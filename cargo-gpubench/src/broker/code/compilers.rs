//! The compiler of kernels for the device of a run.

use std::path::PathBuf;

use gpubench::catalog::DeviceKind;

use crate::broker::options::DeviceOptions;
use crate::error::ExpectedError;
use gpubench_device::Facts;
use gpubench_device::compilers::{Compiler, GpuCompiler, GpuCompilers, HostCompiler, NamedCompilers, Processors};
use gpubench_device::cuda::Architecture;
use gpubench_protocol::sandbox::this_program;

/// The host's C++ compiler for the CPU device, on these processors; NVRTC and nvcc for a GPU.
///
/// # Errors
/// If the CPU device has no compiler, or `--nvrtc` names none. A GPU without a compiler is no error here: images that are compiled already need
/// none.
pub(crate) fn compiler_for(
    facts: &Facts,
    options: &DeviceOptions,
    processors: Processors,
) -> Result<Box<dyn Compiler>, ExpectedError> {
    match facts.device.kind {
        DeviceKind::Cpu => Ok(Box::new(HostCompiler::find()?.for_processors(processors))),
        DeviceKind::Cuda => {
            let compilers = gpu_compilers(options.nvrtc.clone())?;
            let architecture = Architecture::of_capability(facts.device.capability);
            Ok(Box::new(GpuCompiler::new(architecture, compilers)))
        }
    }
}

/// The compilers for GPUs that this machine has, with this NVRTC where one is named.
///
/// # Errors
/// What is named is none.
pub(crate) fn gpu_compilers(nvrtc: Option<PathBuf>) -> Result<GpuCompilers, ExpectedError> {
    Ok(GpuCompilers::find(
        this_program(),
        &NamedCompilers { nvrtc, nvcc: None },
    )?)
}
