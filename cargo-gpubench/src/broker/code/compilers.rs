//! The compiler of kernels for the device of a run.

use std::path::PathBuf;

use crate::broker::options::DeviceOptions;
use gpubench_device::compilers::{Compiler, CompilerMissing, GpuCompilers, NamedCompilers, Processors};
use gpubench_device::{CompilerNotFound, CompilerWishes, Facts};
use gpubench_diagnostic::{ExitCode, Expected, Failure};
use gpubench_protocol::sandbox::this_program;

/// No compiler makes kernels for the CPU device.
#[derive(Debug, thiserror::Error)]
#[error("the CPU device needs a C++ compiler")]
pub(crate) struct NoHostCompiler(#[source] pub(crate) CompilerMissing);

impl Expected for NoHostCompiler {
    fn exit_code(&self) -> ExitCode {
        ExitCode::SetupMissing
    }

    fn hint(&self) -> Option<String> {
        Some("install g++ or clang, or name a compiler in `CXX`".to_owned())
    }
}

/// The compiler of a device's kernels; those of the CPU device are for these processors.
///
/// # Errors
/// If the CPU device has no compiler, or `--nvrtc` names none. A GPU without a compiler is no error here: images that are compiled already need
/// none.
pub(crate) fn compiler_for(
    facts: &Facts,
    options: &DeviceOptions,
    processors: Processors,
) -> Result<Box<dyn Compiler>, Failure> {
    let wishes = CompilerWishes {
        tool: this_program(),
        nvrtc: options.nvrtc.clone(),
        processors,
    };
    (facts.backend().compiler)(&facts.device, wishes).map_err(|missing| match missing {
        CompilerNotFound::Host(missing) => NoHostCompiler(missing).into(),
        CompilerNotFound::Nvrtc(missing) => missing.into(),
    })
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
