//! Why kernels could not be compiled.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use gpubench::catalog::SourceForm;

use super::refusal::Refusal;
use crate::SealError;
use crate::cuda::Architecture;
use gpubench_diagnostic::{ExitCode, Expected, in_backticks};

/// There is no C++ compiler.
#[derive(Debug, thiserror::Error)]
#[error(
    "the CPU device needs a C++ compiler, and `{tried}` does not run; install g++ or clang++, or name one in `CXX`"
)]
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

/// What kernels are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The CPU device.
    Cpu,
    /// GPUs of an architecture.
    Gpu(Architecture),
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Target::Cpu => f.write_str("the CPU device"),
            Target::Gpu(architecture) => architecture.fmt(f),
        }
    }
}

/// Why a source may define kernels that a look at its text does not find, or not define those that it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// Its macros make kernels.
    Macros,
    /// Parts of it are for some architectures.
    Architectures,
}

impl std::fmt::Display for Doubt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Doubt::Macros => "kernels that macros make are not listed",
            Doubt::Architectures => {
                "what depends on `__CUDA_ARCH__` is there for some architectures alone; the CPU device defines it only by an option, as in \
                 `-D__CUDA_ARCH__=800`"
            }
        })
    }
}

/// A source could not be turned into kernels that a device loads.
#[derive(Debug, thiserror::Error)]
pub enum KernelBuildError {
    /// What was compiled cannot be kept as it is.
    #[error(transparent)]
    Unsealed(#[from] SealError),
    /// Kernels of an archive are not those that were unpacked.
    #[error(
        "the kernels in `{}` were changed after they were unpacked (hint: run the archive again, where nothing else writes to that folder)",
        path.display()
    )]
    Exchanged {
        /// Their file.
        path: PathBuf,
    },
    /// The compiler reported errors.
    #[error("could not compile `{source_name}` for {target}\n{diagnostics}")]
    Compile {
        /// The source as named in `cuda_source!`.
        source_name: String,
        /// For what.
        target: Target,
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
    /// The source uses what the CPU device cannot run.
    #[error(
        "`{source_name}` cannot run on the CPU device\n{}\n(hint: what only a GPU can do goes behind `#ifndef __GPUBENCH_CPU__`; \
         `requires(cuda)` on the benchmark skips it here)",
        lines(.refusals)
    )]
    Refused {
        /// The source as named in `cuda_source!`.
        source_name: String,
        /// What was found, in source order.
        refusals: Vec<Refusal>,
    },
    /// The source is in an archive without what is needed of it, and cannot be compiled.
    #[error(
        "`{source_name}` was not compiled ahead with {}, and cannot be compiled here: {reason} (hint: archive again, or install a compiler here)",
        in_backticks(.names)
    )]
    NotAhead {
        /// The source as named in `cuda_source!`.
        source_name: String,
        /// The kernels that are missing.
        names: Vec<String>,
        /// Why there is no compiler.
        reason: String,
    },
    /// The source is compiled for GPUs already.
    #[error("`{source_name}` cannot run on the CPU device: it is {form}, which runs on GPUs alone")]
    ForGpusOnly {
        /// The source as named in `cuda_source!` or `cuda_image!`.
        source_name: String,
        /// What it is.
        form: SourceForm,
    },
    /// There is no compiler for GPUs.
    #[error(
        "cannot compile `{source_name}` for {architecture}: found neither NVRTC nor nvcc (hint: `pip install nvidia-cuda-nvrtc` brings NVRTC; \
         where it lies elsewhere, name it with `--nvrtc`)"
    )]
    NoCompiler {
        /// The source as named in `cuda_source!`.
        source_name: String,
        /// The device's architecture.
        architecture: Architecture,
    },
    /// The source asks for nvcc.
    #[error(
        "cannot compile `{source_name}`, which asks for nvcc: found none (hint: install the CUDA toolkit or `pip install nvidia-cuda-nvcc`, and \
         put nvcc on the path or name it with `--nvcc`)"
    )]
    NoNvcc {
        /// The source as named in `cuda_source!`.
        source_name: String,
    },
    /// The compiler knows no architecture that the device could run.
    #[error(
        "{compiler} compiles for sm_{oldest} and later, but the device is {architecture} (hint: use an older version of it)"
    )]
    TooOld {
        /// The compiler and its version.
        compiler: String,
        /// The oldest compute capability it knows.
        oldest: u32,
        /// The device's architecture.
        architecture: Architecture,
    },
    /// The source is for other devices.
    #[error("`{source_name}` is for {found}, and this device is {architecture}")]
    OtherArchitecture {
        /// The source as named in `cuda_source!` or `cuda_image!`.
        source_name: String,
        /// What it is for.
        found: String,
        /// The device's architecture.
        architecture: Architecture,
    },
    /// An option that is not passed on.
    #[error(
        "`{source_name}` asks for the option `{option}`, which is not passed to {compiler} (hint: leave it out if it is about host code; \
         `docs/gpu-kernels.md` lists the options that are passed on)"
    )]
    Option {
        /// The source as named in `cuda_source!`.
        source_name: String,
        /// The option.
        option: String,
        /// The compiler.
        compiler: &'static str,
    },
    /// A cubin, a fatbin or PTX that is none.
    #[error("`{source_name}` is no usable image: {reason}")]
    Image {
        /// The source as named in `cuda_source!` or `cuda_image!`.
        source_name: String,
        /// What is wrong.
        reason: String,
    },
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
    /// A kernel is not in its source.
    #[error("unknown kernel `{name}`; {}{}", defines(.source_name, .defined, .doubts), hint(.defined, .doubts))]
    UnknownKernel {
        /// The name expression asked for.
        name: String,
        /// The source as named in `cuda_source!`.
        source_name: String,
        /// Kernels it defines.
        defined: Vec<String>,
        /// Why it may have others.
        doubts: Vec<Doubt>,
    },
    /// A file of the source has a path that leads nowhere below the crate.
    #[error("the kernel source file `{path}` has no relative path")]
    Path {
        /// The path.
        path: String,
    },
    /// The compiler did not finish.
    #[error("{compiler} did not finish `{source_name}` within {} s", .limit.as_secs())]
    Timeout {
        /// The compiler.
        compiler: &'static str,
        /// The source as named in `cuda_source!`.
        source_name: String,
        /// The limit.
        limit: Duration,
    },
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

    /// Whether it may be about one name of several, and not about the source or the machine.
    pub(super) fn may_be_of_one_name(&self) -> bool {
        match self {
            KernelBuildError::Both { nvcc, .. } => nvcc.may_be_of_one_name(),
            _ => matches!(
                self,
                KernelBuildError::Compile { .. }
                    | KernelBuildError::Refused { .. }
                    | KernelBuildError::UnknownKernel { .. }
                    | KernelBuildError::Crash { .. }
            ),
        }
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

fn defines(source_name: &str, defined: &[String], doubts: &[Doubt]) -> String {
    match defined {
        [] if doubts.contains(&Doubt::Macros) => format!("`{source_name}` makes its kernels by macros"),
        [] => format!("`{source_name}` defines no kernel"),
        _ => format!("`{source_name}` defines {}", in_backticks(defined)),
    }
}

fn hint(defined: &[String], doubts: &[Doubt]) -> String {
    // Where nothing is listed, macros are spoken of already.
    let news = |doubt: &&Doubt| **doubt != Doubt::Macros || !defined.is_empty();
    let doubts: Vec<String> = doubts.iter().filter(news).map(Doubt::to_string).collect();
    match doubts.is_empty() {
        true => String::new(),
        false => format!(" (hint: {})", doubts.join("; ")),
    }
}
