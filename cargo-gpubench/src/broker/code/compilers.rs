//! The compiler of kernels for the device of a run.

use std::path::PathBuf;

use crate::broker::options::DeviceOptions;
use gpubench_device::compilers::{GpuCompilers, NamedCompilers, Processors};
use gpubench_device::{CompilerWishes, Facts, FoundCompiler};
use gpubench_diagnostic::Failure;
use gpubench_sandbox::this_program;

/// The compiler of a device's kernels; those of the CPU device are for these processors.
///
/// # Errors
/// If the CPU device has no compiler, or `--nvrtc` names none. A GPU without a compiler is no error here: images that are compiled already need
/// none.
pub(crate) fn compiler_for(facts: &Facts, options: &DeviceOptions, processors: Processors) -> FoundCompiler {
    let wishes = CompilerWishes {
        tool: this_program(),
        nvrtc: options.nvrtc.clone(),
        processors,
    };
    (facts.backend().compiler)(&facts.device, wishes)
}

/// The compilers for GPUs that this machine has, with this NVRTC where one is named.
///
/// # Errors
/// What is named is none.
pub(crate) fn gpu_compilers(nvrtc: Option<PathBuf>) -> Result<GpuCompilers, Failure> {
    Ok(GpuCompilers::find(
        this_program(),
        &NamedCompilers { nvrtc, nvcc: None },
    )?)
}
