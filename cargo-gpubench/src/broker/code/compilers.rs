//! The compiler of kernels for the device of a run.

use crate::broker::options::DeviceOptions;
use gpubench_device::compilers::{GpuCompilers, NamedCompilers, Processors};
use gpubench_device::{CompilerRequest, Facts, FoundCompiler};
use gpubench_diagnostic::Failure;
use gpubench_sandbox::this_program;

/// The compiler of a device's kernels; those of the CPU device are for these processors.
///
/// # Errors
/// If the CPU device has no compiler, or what is named as a compiler for GPUs is none. A GPU
/// without a compiler is no error here: images that are compiled already need none.
pub(crate) fn compiler_for(facts: &Facts, options: &DeviceOptions, processors: Processors) -> FoundCompiler {
    let wishes = CompilerRequest {
        tool: this_program(),
        named: options.compilers.clone(),
        processors,
    };
    (facts.backend().compiler)(&facts.device, wishes)
}

/// The compilers for GPUs that this machine has, with those that are named.
///
/// # Errors
/// What is named is none.
pub(crate) fn gpu_compilers(named: &NamedCompilers) -> Result<GpuCompilers, Failure> {
    Ok(GpuCompilers::find(this_program(), named)?)
}
