//! Why kernels could not be compiled.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use super::refusal::Refusal;

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

/// A source could not be turned into a kernel library.
#[derive(Debug, thiserror::Error)]
pub enum KernelBuildError {
    /// The compiler reported errors.
    #[error("could not compile `{source_name}` for the CPU device\n{diagnostics}")]
    Compile {
        /// The source as named in `cuda_source!`.
        source_name: String,
        /// The compiler's messages, with the user's files and lines.
        diagnostics: String,
    },
    /// The source uses what the CPU device cannot run.
    #[error("`{source_name}` cannot run on the CPU device\n{}", lines(.refusals))]
    Refused {
        /// The source as named in `cuda_source!`.
        source_name: String,
        /// What was found, in source order.
        refusals: Vec<Refusal>,
    },
    /// The source is in an archive without what is needed of it, and cannot be compiled.
    #[error(
        "`{source_name}` was not compiled ahead with {}, and cannot be compiled here: {reason} (hint: archive again, or install a compiler here)",
        listed(.names)
    )]
    NotAhead {
        /// The source as named in `cuda_source!`.
        source_name: String,
        /// The kernels that are missing.
        names: Vec<String>,
        /// Why there is no compiler.
        reason: String,
    },
    /// A kernel is not in its source.
    #[error("unknown kernel `{name}`; {}", defines(.source_name, .defined))]
    UnknownKernel {
        /// The name expression asked for.
        name: String,
        /// The source as named in `cuda_source!`.
        source_name: String,
        /// Kernels it defines.
        defined: Vec<String>,
    },
    /// A file of the source has a path that leads nowhere below the crate.
    #[error("the kernel source file `{path}` has no relative path")]
    Path {
        /// The path.
        path: String,
    },
    /// The compiler did not finish.
    #[error("the C++ compiler did not finish `{source_name}` within {} s", .limit.as_secs())]
    Timeout {
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
    /// Whether it may be about one name of several, and not about the source or the machine.
    pub(super) fn may_be_of_one_name(&self) -> bool {
        matches!(
            self,
            KernelBuildError::Compile { .. } | KernelBuildError::UnknownKernel { .. }
        )
    }
}

fn lines(refusals: &[Refusal]) -> String {
    let lines: Vec<String> = refusals.iter().map(|refusal| format!("  {refusal}")).collect();
    lines.join("\n")
}

fn defines(source_name: &str, defined: &[String]) -> String {
    if defined.is_empty() {
        return format!("`{source_name}` defines no kernel");
    }
    format!("`{source_name}` defines {}", listed(defined))
}

fn listed(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}
