//! Compilation errors.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

use gpubench::catalog::Source;

use super::cuda_functions::LACKING;
use super::refusal::Refusal;
use crate::FreezeError;
use crate::cuda::Architecture;
use gpubench_contract::units::Quantity;
use gpubench_diagnostic::{ExitCode, Expected};

/// The C++ compiler is missing.
#[derive(Debug, thiserror::Error)]
#[error("cannot run `{tried}`")]
pub struct CompilerMissing {
    /// The program that was tried.
    pub tried: String,
    /// The operating system's reason.
    #[source]
    pub source: io::Error,
}

/// No compiler on this machine can compile kernels for the CPU device.
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

/// A source could not be compiled.
#[derive(Debug, thiserror::Error)]
pub enum KernelBuildError {
    /// The compiled file could not be frozen.
    #[error(transparent)]
    Incomplete(#[from] FreezeError),
    /// The compiler reported errors.
    #[error("could not compile `{source_name}` for {target}\n{diagnostics}")]
    Compile {
        /// The source, as named in `cuda_source!`.
        source_name: String,
        /// The target: the CPU device, or an architecture.
        target: String,
        /// The compiler's messages, with the user's files and lines.
        diagnostics: String,
    },
    /// Both NVRTC and nvcc reject the source.
    #[error("nvcc: {nvcc}\nNVRTC: {nvrtc}")]
    Both {
        /// nvcc's error. It comes first because nvcc supports more sources.
        nvcc: Box<KernelBuildError>,
        /// NVRTC's earlier error.
        nvrtc: Box<KernelBuildError>,
    },
    /// A kernel uses constructs that the CPU device does not support.
    #[error("{0}")]
    Refused(String),
    /// The device does not support the source.
    #[error("{0}")]
    Unsupported(String),
    /// There is no compiler for the source.
    #[error("{0}")]
    NoCompiler(String),
    /// The source does not define a kernel.
    #[error("{0}")]
    UnknownKernel(String),
    /// The compiler crashed.
    #[error("{compiler} failed on `{source_name}`: {reason}")]
    Crash {
        /// The compiler.
        compiler: &'static str,
        /// The source, as named in `cuda_source!`.
        source_name: String,
        /// How the compiler ended.
        reason: String,
    },
    /// The kernel of the operating system killed the compiler for its memory.
    #[error(
        "{compiler} was killed while it compiled `{source_name}`, because its control group may use at most {limit} of memory"
    )]
    OutOfMemory {
        /// The compiler.
        compiler: &'static str,
        /// The source, as named in `cuda_source!`.
        source_name: String,
        /// The limit of the control group.
        limit: Quantity,
    },
    /// The user interrupted the run.
    #[error("interrupted")]
    Interrupted,
    /// Any other error in the source, its options or its compiler.
    #[error("{0}")]
    Unusable(String),
    /// A file could not be written or read.
    #[error("cannot {action} `{path}`")]
    Io {
        /// The failed operation.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The operating system's reason.
        #[source]
        source: io::Error,
    },
}

impl KernelBuildError {
    /// Converts an I/O error of an operation on a file.
    pub(super) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> KernelBuildError {
        let path = path.to_owned();
        move |source| KernelBuildError::Io { action, path, source }
    }

    /// Returns the error for a source of other architectures than the device's.
    pub(super) fn other_architecture(
        source: &Source,
        found: &[impl Display],
        device: Architecture,
    ) -> KernelBuildError {
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        KernelBuildError::Unsupported(format!(
            "`{}` is for {}, but this device is {device}",
            source.name,
            found.join(", ")
        ))
    }

    /// Returns whether the error may concern one name of several, rather than the source or the
    /// machine.
    pub(super) fn may_concern_one_name(&self) -> bool {
        match self {
            KernelBuildError::Both { nvcc, .. } => nvcc.may_concern_one_name(),
            _ => matches!(
                self,
                KernelBuildError::Compile { .. }
                    | KernelBuildError::Refused(_)
                    | KernelBuildError::UnknownKernel(_)
                    | KernelBuildError::Crash { .. }
            ),
        }
    }

    /// Returns the error for unsupported constructs, which are in source order.
    pub(super) fn refused(source: &Source, refusals: &[Refusal]) -> KernelBuildError {
        KernelBuildError::Refused(format!(
            "`{}` cannot run on the CPU device\n{}\n(hint: exclude GPU-only code with `#ifndef __GPUBENCH_CPU__`, \
             or skip the benchmark here with `requires(cuda)`)",
            source.name,
            lines(refusals)
        ))
    }
}

/// Returns one line per construct, or per function that is one: its first place, and the number of
/// further ones.
fn lines(refusals: &[Refusal]) -> String {
    let mut counted: Vec<(&Refusal, usize)> = Vec::new();
    for refusal in refusals {
        match counted.iter_mut().find(|(first, _)| {
            first.construct == refusal.construct && (first.construct != LACKING || first.word == refusal.word)
        }) {
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
