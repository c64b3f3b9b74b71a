//! The compiler of kernels for the device of a run.

use std::path::PathBuf;

use crate::broker::options::DeviceOptions;
use crate::error::ExpectedError;
use gpubench_device::compilers::{Compiler, GpuCompilers, NamedCompilers, Processors};
use gpubench_device::{CompilerNotFound, CompilerWishes, Facts};
use gpubench_protocol::sandbox::this_program;

/// The compiler of a device's kernels; those of the CPU device are for these processors.
///
/// # Errors
/// If the CPU device has no compiler, or `--nvrtc` names none. A GPU without a compiler is no error here: images that are compiled already need
/// none.
pub(crate) fn compiler_for(
    facts: &Facts,
    options: &DeviceOptions,
    processors: Processors,
) -> Result<Box<dyn Compiler>, ExpectedError> {
    let wishes = CompilerWishes {
        tool: this_program(),
        nvrtc: options.nvrtc.clone(),
        processors,
    };
    (facts.backend().compiler)(&facts.device, wishes).map_err(|missing| match missing {
        CompilerNotFound::Host(missing) => missing.into(),
        CompilerNotFound::Nvrtc(missing) => missing.into(),
    })
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
