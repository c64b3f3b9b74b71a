//! Compiles kernels of the CPU device for a GPU, too, because only GPU compilers know what a GPU
//! cannot run.

use std::collections::BTreeMap;
use std::path::Path;

use gpubench::catalog::{Source, SourceForm};
use gpubench_diagnostic::in_backticks;

use super::super::compiler::{Compiler as _, Wanted};
use super::super::error::KernelBuildError;
use super::compiler::{GpuCompiler, GpuCompilers, NamedCompilers, NamedNotFound};
use super::device_code::{Unmarked, host_functions, host_library};
use super::options::{Dialect, parse_options};
use crate::cuda::{Architecture, Features};

/// The architecture of sources that name none.
const USUAL: Architecture = Architecture::of_capability(90);

/// What compilers say about a header that is not there.
const MISSING_HEADER: &[&str] = &["cannot open source file", "No such file or directory"];

/// The GPU compilers of this machine, which judge kernels that run on the CPU device.
#[derive(Clone, Debug)]
pub struct GpuCheck {
    compilers: GpuCompilers,
}

/// The judgement of a source's kernels.
#[derive(Debug)]
pub enum GpuVerdict {
    /// A GPU compiler takes them, or has nothing to compile.
    Accepted,
    /// It refuses these kernels, with a message about each.
    Refused(BTreeMap<String, String>),
    /// No compiler could judge them. The text, for the user, says why this matters.
    Unchecked(String),
}

impl GpuCheck {
    /// Finds the compilers, as [`GpuCompilers::find`] does.
    ///
    /// # Errors
    /// When a path that the user named has no working compiler.
    pub fn find(tool: &Path, named: &NamedCompilers) -> Result<GpuCheck, NamedNotFound> {
        GpuCompilers::find(tool, named).map(GpuCheck::by)
    }

    /// Returns the check by these compilers.
    pub fn by(compilers: GpuCompilers) -> GpuCheck {
        GpuCheck { compilers }
    }

    /// Compiles the wanted kernels for a GPU.
    pub fn judge(&self, wanted: Wanted<'_>) -> GpuVerdict {
        let source = wanted.source;
        if !source.form.is_compiled() || wanted.names.is_empty() {
            return GpuVerdict::Accepted;
        }
        let needs_nvcc = source.form == SourceForm::CudaForNvcc;
        if self.compilers.is_empty() || needs_nvcc && self.compilers.nvcc().is_none() {
            return without_compiler(wanted);
        }
        let compiler = GpuCompiler::new(architecture(source), self.compilers.clone());
        let (calling, others): (Vec<String>, Vec<String>) = wanted
            .names
            .iter()
            .cloned()
            .partition(|name| !host_functions(source, std::slice::from_ref(name)).is_empty());
        let attempts = [(calling, Unmarked::IsHostCode), (others, Unmarked::IsDeviceCode)];
        let (mut refused, mut lack) = (BTreeMap::new(), None);
        for (names, unmarked) in attempts.iter().filter(|(names, _)| !names.is_empty()) {
            let compiler = compiler.clone().judging_device_code(*unmarked);
            match compiler.compile_separately(Wanted { names, ..wanted }) {
                Ok(compiled) => {
                    let rejected = compiled.rejected.iter();
                    for (name, error) in rejected.filter(|(name, error)| concerns_gpus(name, error)) {
                        lack = lack.or_else(|| lack_of_header(error));
                        refused.insert(name.clone(), refusal(error));
                    }
                }
                Err(KernelBuildError::Interrupted) => return GpuVerdict::Accepted,
                Err(error) if is_of_the_source(&error) => {
                    lack = lack.or_else(|| lack_of_header(&error));
                    refused.extend(names.iter().map(|name| (name.clone(), refusal(&error))));
                }
                Err(error) => return unchecked(source, &error.to_string()),
            }
        }
        if refused.is_empty() {
            GpuVerdict::Accepted
        } else {
            self.unless_a_header_is_missing(source, refused, lack)
        }
    }

    /// An installation may lack headers. Then its refusal says nothing about a GPU. `lack` is what
    /// the last compiler said about it.
    fn unless_a_header_is_missing(
        &self,
        source: &Source,
        refused: BTreeMap<String, String>,
        lack: Option<String>,
    ) -> GpuVerdict {
        match (self.compilers.missing_header(source), lack) {
            (Some(header), _) => unchecked(source, &format!("NVRTC was installed without `{header}`")),
            (None, Some(said)) => unchecked(source, &said),
            (None, None) => GpuVerdict::Refused(refused),
        }
    }
}

/// Returns what the compiler that judged the whole source said, if a header is not there. NVRTC
/// lacks the headers of host code, so nvcc's word counts.
fn lack_of_header(error: &KernelBuildError) -> Option<String> {
    let said = match error {
        KernelBuildError::Both { nvcc, .. } => nvcc.to_string(),
        error => error.to_string(),
    };
    MISSING_HEADER.iter().any(|words| said.contains(words)).then_some(said)
}

fn refusal(error: &KernelBuildError) -> String {
    format!(
        "{error}\n(hint: the CPU device can run this, but a GPU's compiler refuses it; add `requires(cpu)` to a benchmark that \
         is not for GPUs)"
    )
}

/// Returns whether an error is the compiler's opinion of the source.
fn is_of_the_source(error: &KernelBuildError) -> bool {
    matches!(error, KernelBuildError::Compile { .. } | KernelBuildError::Both { .. })
}

/// Returns whether an error is about a kernel that GPUs have, too. A kernel may exist for the CPU
/// device alone, by `#ifdef`.
fn concerns_gpus(name: &str, error: &KernelBuildError) -> bool {
    let undefined = format!("kernel `{name}`: error: identifier ");
    is_of_the_source(error) && !error.to_string().contains(&undefined)
}

fn unchecked(source: &Source, reason: &str) -> GpuVerdict {
    GpuVerdict::Unchecked(format!(
        "the kernels of `{}` were not compiled for a GPU, so what only its compiler refuses went unnoticed: {reason}",
        source.name
    ))
}

/// Returns the verdict if there is no compiler: a notice if a kernel uses what a GPU may not have.
fn without_compiler(wanted: Wanted<'_>) -> GpuVerdict {
    let Wanted { source, names, .. } = wanted;
    let used = [host_functions(source, names), host_library(source, names)].concat();
    if used.is_empty() {
        return GpuVerdict::Accepted;
    }
    let (missing, package) = match source.form {
        SourceForm::CudaForNvcc => ("nvcc", "nvidia-cuda-nvcc`, or name one with `--nvcc"),
        _ => ("NVRTC", "nvidia-cuda-nvrtc`, or name one with `--nvrtc"),
    };
    GpuVerdict::Unchecked(format!(
        "kernels of `{}` use host code ({}): the CPU device runs it in kernels, CUDA does not, and {missing}, which would \
         tell, was not found (hint: `pip install {package}`)",
        source.name,
        in_backticks(used)
    ))
}

/// Returns the architecture to compile a source for: the one whose features it needs, if any.
fn architecture(source: &Source) -> Architecture {
    let options = parse_options(&source.options, Dialect::Nvcc).unwrap_or_default();
    let mut featured = options.architectures.into_iter();
    let featured = featured.find(|architecture| architecture.features != Features::Portable);
    featured.map_or(USUAL, |architecture| {
        Architecture::of_capability(architecture.capability)
    })
}
