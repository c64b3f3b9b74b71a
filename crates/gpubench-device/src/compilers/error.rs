//! Why kernels could not be compiled.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

use gpubench::catalog::Source;

use super::refusal::Refusal;
use crate::FreezeError;
use crate::cuda::Architecture;
use gpubench_diagnostic::{ExitCode, Expected};

/// There is no C++ compiler.
#[derive(Debug, thiserror::Error)]
#[error("`{tried}` does not run")]
pub struct CompilerMissing {
    /// What was tried.
    pub tried: String,
    /// How that failed.
    #[source]
    pub source: io::Error,
}

/// No compiler of this machine makes kernels for the CPU device.
#[derive(Debug, thiserror::Error)]
#[error("the CPU device needs a C++ compiler")]
pub struct NoHostCompiler(#[from] pub CompilerMissing);

impl Expected for NoHostCompiler {
    fn exit_code(&self) -> ExitCode {
        ExitCode::SetupMissing
    }

    fn hint(&self) -> Option<String> {
        Some("install g++ or clang, or name a compiler in `CXX`".to_owned())
    }
}

/// A source could not be turned into kernels that a device loads.
#[derive(Debug, thiserror::Error)]
pub enum KernelBuildError {
    /// What was compiled cannot be kept as it is.
    #[error(transparent)]
    Incomplete(#[from] FreezeError),
    /// The compiler reported errors.
    #[error("could not compile `{source_name}` for {target}\n{diagnostics}")]
    Compile {
        /// The source as named in `cuda_source!`.
        source_name: String,
        /// For what: the CPU device, or an architecture.
        target: String,
        /// The compiler's messages, with the user's files and lines.
        diagnostics: String,
    },
    /// Neither NVRTC nor nvcc compiles the source.
    #[error("nvcc: {nvcc}\nNVRTC: {nvrtc}")]
    Both {
        /// What nvcc says, which knows more of what sources have.
        nvcc: Box<KernelBuildError>,
        /// What NVRTC said before.
        nvrtc: Box<KernelBuildError>,
    },
    /// A kernel uses what the CPU device cannot run.
    #[error("{0}")]
    Refused(String),
    /// The device cannot run the source.
    #[error("{0}")]
    Unsupported(String),
    /// There is no compiler for the source.
    #[error("{0}")]
    NoCompiler(String),
    /// A kernel is not in its source.
    #[error("{0}")]
    UnknownKernel(String),
    /// The compiler itself failed.
    #[error("{compiler} failed on `{source_name}`: {reason}")]
    Crash {
        /// The compiler.
        compiler: &'static str,
        /// The source as named in `cuda_source!`.
        source_name: String,
        /// How.
        reason: String,
    },
    /// The user wants the run to end.
    #[error("interrupted")]
    Interrupted,
    /// Anything else that is wrong with the source, its options or its compiler.
    #[error("{0}")]
    Unusable(String),
    /// A file could not be written or read.
    #[error("cannot {action} `{path}`")]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
}

impl KernelBuildError {
    /// What the system's refusal to do something with a file becomes.
    pub(super) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> KernelBuildError {
        let path = path.to_owned();
        move |source| KernelBuildError::Io { action, path, source }
    }

    /// For a source that is for other architectures than the device's.
    pub(super) fn other_architecture(
        source: &Source,
        found: &[impl Display],
        device: Architecture,
    ) -> KernelBuildError {
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        KernelBuildError::Unsupported(format!(
            "`{}` is for {}, and this device is {device}",
            source.name,
            found.join(", ")
        ))
    }

    /// Whether it may be about one name of several, and not about the source or the machine.
    pub(super) fn may_be_of_one_name(&self) -> bool {
        match self {
            KernelBuildError::Both { nvcc, .. } => nvcc.may_be_of_one_name(),
            _ => matches!(
                self,
                KernelBuildError::Compile { .. }
                    | KernelBuildError::Refused(_)
                    | KernelBuildError::UnknownKernel(_)
                    | KernelBuildError::Crash { .. }
            ),
        }
    }

    /// For kernels that use what the CPU device cannot run, in source order.
    pub(super) fn refused(source: &Source, refusals: &[Refusal]) -> KernelBuildError {
        KernelBuildError::Refused(format!(
            "`{}` cannot run on the CPU device\n{}\n(hint: what only a GPU can do goes behind `#ifndef __GPUBENCH_CPU__`; \
             `requires(cuda)` on the benchmark skips it here)",
            source.name,
            lines(refusals)
        ))
    }
}

/// One line for each construct: where it is first, and how often it is there besides.
fn lines(refusals: &[Refusal]) -> String {
    let mut counted: Vec<(&Refusal, usize)> = Vec::new();
    for refusal in refusals {
        match counted
            .iter_mut()
            .find(|(first, _)| first.construct == refusal.construct)
        {
            Some((_, more)) => *more += 1,
            None => counted.push((refusal, 0)),
        }
    }
    let line = |(refusal, more): &(&Refusal, usize)| match more {
        0 => format!("  {refusal}"),
        more => format!("  {refusal}, and {more} more"),
    };
    counted.iter().map(line).collect::<Vec<_>>().join("\n")
}
