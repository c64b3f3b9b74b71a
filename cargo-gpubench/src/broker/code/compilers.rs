//! The compiler of kernels for a run's device.

use crate::broker::options::DeviceOptions;
use gpubench_device::compilers::{GpuCompilers, NamedCompilers, Optimization, Processors};
use gpubench_device::{Backend, CompilerRequest, Facts, FoundCompiler};
use gpubench_diagnostic::Failure;
use gpubench_sandbox::this_program;

/// Returns the compiler of kernels for a device. For the CPU device, it compiles for this machine's
/// processors.
///
/// # Errors
/// The CPU device has no compiler, or a named GPU compiler is not one. A GPU without a compiler is
/// no error: compiled images need none.
pub(crate) fn compiler_for(
    facts: &Facts,
    options: &DeviceOptions,
    processors: Processors,
    optimization: Optimization,
) -> FoundCompiler {
    let wishes = CompilerRequest {
        tool: this_program(),
        named: options.compilers.clone(),
        processors,
        optimization,
    };
    (Backend::for_facts(facts).compiler)(&facts.device, wishes)
}

/// Returns the GPU compilers of this machine, including the named ones.
///
/// # Errors
/// A named compiler is not one.
pub(crate) fn gpu_compilers(named: &NamedCompilers) -> Result<GpuCompilers, Failure> {
    Ok(GpuCompilers::find(this_program(), named)?)
}
