//! Combines the GPU compilers of a machine into one.

use std::path::{Path, PathBuf};

use gpubench::catalog::{Source, SourceForm};

use super::super::cache_file::{self, is_intact};
use super::super::compiler::{Compiler, Wanted};
use super::super::diagnostics::narrowed;
use super::super::error::KernelBuildError;
use super::super::scratch::Scratch;
use super::device_code::{Unmarked, device_code_of, needed_code_of};
use super::image::accept;
use super::job::{Code, Job, wanted_architecture};
use super::nvcc::Nvcc;
use super::nvrtc::NvrtcCompiler;
use super::options::{Dialect, SourceOptions, parse_options};
use super::store::{self, Maker};
use super::tool::Tool;
use crate::cuda::{Architecture, KernelImage};
use crate::toolkits::{Surroundings, named, named_nvcc, nvcc_next_to};
use gpubench_diagnostic::{ExitCode, Expected};

/// The path of `--nvrtc` has no working NVRTC.
#[derive(Debug, thiserror::Error)]
#[error("`{}` has no working NVRTC: {reason}", .path.display())]
pub struct NvrtcNotFound {
    /// The path.
    pub path: PathBuf,
    /// The reason.
    pub reason: String,
}

impl Expected for NvrtcNotFound {
    fn exit_code(&self) -> ExitCode {
        ExitCode::SetupMissing
    }

    fn hint(&self) -> Option<String> {
        let hint = "name `libnvrtc.so` or a folder with it, such as a toolkit or Python's `site-packages` after \
                    `pip install nvidia-cuda-nvrtc`";
        Some(hint.to_owned())
    }
}

/// The path of `--nvcc` has no working nvcc.
#[derive(Debug, thiserror::Error)]
#[error("`{}` has no working nvcc", .path.display())]
pub struct NvccNotFound {
    /// The path.
    pub path: PathBuf,
}

impl Expected for NvccNotFound {
    fn exit_code(&self) -> ExitCode {
        ExitCode::SetupMissing
    }

    fn hint(&self) -> Option<String> {
        let hint = "name the program or a folder with it, such as a toolkit or Python's `site-packages` after `pip install nvidia-cuda-nvcc`";
        Some(hint.to_owned())
    }
}

/// A compiler that the user named does not work.
#[derive(Debug, thiserror::Error)]
pub enum NamedNotFound {
    /// `--nvrtc`.
    #[error(transparent)]
    Nvrtc(#[from] NvrtcNotFound),
    /// `--nvcc`.
    #[error(transparent)]
    Nvcc(#[from] NvccNotFound),
}

impl Expected for NamedNotFound {
    fn exit_code(&self) -> ExitCode {
        match self {
            NamedNotFound::Nvrtc(error) => error.exit_code(),
            NamedNotFound::Nvcc(error) => error.exit_code(),
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            NamedNotFound::Nvrtc(error) => error.hint(),
            NamedNotFound::Nvcc(error) => error.hint(),
        }
    }
}

/// The compilers that the user named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedCompilers {
    /// NVRTC: a library, or a folder to search.
    pub nvrtc: Option<PathBuf>,
    /// nvcc: its executable, or a folder to search.
    pub nvcc: Option<PathBuf>,
}

/// The GPU compilers of a machine. One or both may be missing. Without any, only files in the cache
/// can be used.
#[derive(Clone, Debug, Default)]
pub struct GpuCompilers {
    nvrtc: Option<NvrtcCompiler>,
    nvcc: Option<Nvcc>,
}

impl GpuCompilers {
    /// Finds the compilers that the user did not name. `tool` is the executable of
    /// `cargo gpubench`; NVRTC runs in a process of it.
    ///
    /// # Errors
    /// When a path that the user named has no working compiler.
    pub fn find(tool: &Path, compilers: &NamedCompilers) -> Result<GpuCompilers, NamedNotFound> {
        let around = Surroundings::of_this_process();
        let nearby = compilers.nvrtc.as_deref().map_or_else(Vec::new, nvcc_next_to);
        let nvcc = match &compilers.nvcc {
            Some(path) => Some(Nvcc::find(&named_nvcc(path)).ok_or_else(|| NvccNotFound { path: path.clone() })?),
            None => Nvcc::find(&around.nvcc(&nearby)),
        };
        let nvrtc = match &compilers.nvrtc {
            None => NvrtcCompiler::find(tool, around.nvrtc()).ok(),
            Some(path) => Some(explicit(tool, path)?),
        };
        Ok(GpuCompilers {
            nvrtc: nvrtc.map(|nvrtc| nvrtc.or_headers(|| around.toolkit_headers())),
            nvcc,
        })
    }

    /// Returns whether there is no compiler at all.
    pub fn is_empty(&self) -> bool {
        self.nvrtc.is_none() && self.nvcc.is_none()
    }

    /// Returns a header that a source includes and that NVRTC's installation lacks.
    pub(super) fn missing_header(&self, source: &Source) -> Option<String> {
        let nvrtc = self.nvrtc.as_ref().filter(|_| self.nvcc.is_none())?;
        nvrtc.missing_header(source)
    }

    /// Returns NVRTC's version and path, for messages.
    pub fn nvrtc(&self) -> Option<String> {
        self.nvrtc.as_ref().map(Tool::described)
    }

    /// Returns nvcc's version and path, for messages.
    pub fn nvcc(&self) -> Option<String> {
        self.nvcc.as_ref().map(Tool::described)
    }

    /// Returns the preferred compiler: NVRTC, else nvcc.
    fn first(&self) -> Option<&dyn Tool> {
        match &self.nvrtc {
            Some(nvrtc) => Some(nvrtc),
            None => self.second(),
        }
    }

    /// Returns nvcc.
    fn second(&self) -> Option<&dyn Tool> {
        self.nvcc.as_ref().map(|nvcc| nvcc as &dyn Tool)
    }

    /// Returns the compilers without nvcc.
    #[must_use]
    pub fn without_nvcc(self) -> GpuCompilers {
        GpuCompilers { nvcc: None, ..self }
    }

    /// Returns the compilers without NVRTC.
    #[must_use]
    pub fn without_nvrtc(self) -> GpuCompilers {
        GpuCompilers { nvrtc: None, ..self }
    }
}

fn explicit(tool: &Path, path: &Path) -> Result<NvrtcCompiler, NvrtcNotFound> {
    let fail = |reason: String| NvrtcNotFound {
        path: path.to_owned(),
        reason,
    };
    match named(path) {
        libraries if libraries.is_empty() => Err(fail("no `libnvrtc.so` found".to_owned())),
        libraries => NvrtcCompiler::find(tool, libraries).map_err(fail),
    }
}

/// The errors that are reported if every attempt of NVRTC fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Reported {
    /// Those of the unchanged source.
    #[default]
    Unchanged,
    /// Those of the source without its host code.
    DeviceCode,
}

/// Compiles kernels for one GPU architecture.
#[derive(Clone, Debug)]
pub struct GpuCompiler {
    architecture: Architecture,
    compilers: GpuCompilers,
    unmarked: Unmarked,
    reported: Reported,
    identity: String,
}

impl GpuCompiler {
    /// Returns a compiler for an architecture.
    pub fn new(architecture: Architecture, compilers: GpuCompilers) -> GpuCompiler {
        let names = [compilers.nvrtc(), compilers.nvcc()];
        let names: Vec<String> = names.into_iter().flatten().collect();
        GpuCompiler {
            architecture,
            unmarked: Unmarked::default(),
            reported: Reported::default(),
            identity: if names.is_empty() {
                "none".to_owned()
            } else {
                names.join(", ")
            },
            compilers,
        }
    }

    /// Returns the compiler for a judgement of device code. Its errors are those of the source
    /// without host code.
    #[must_use]
    pub(super) fn judging_device_code(self, unmarked: Unmarked) -> GpuCompiler {
        GpuCompiler {
            unmarked,
            reported: Reported::DeviceCode,
            ..self
        }
    }

    /// Returns the target architecture.
    pub fn architecture(&self) -> Architecture {
        self.architecture
    }

    /// Returns the compiler that a source needs.
    fn choose(&self, source: &Source) -> Result<&dyn Tool, KernelBuildError> {
        let (name, architecture) = (&source.name, self.architecture);
        let (chosen, lack) = match source.form {
            SourceForm::CudaForNvcc => (
                self.compilers.second(),
                format!(
                    "cannot compile `{name}`: it needs nvcc, which was not found (hint: install the CUDA toolkit or `pip install \
                     nvidia-cuda-nvcc`, and put nvcc on the path or name it in `NVCC`)"
                ),
            ),
            _ => (
                self.compilers.first(),
                format!(
                    "cannot compile `{name}` for {architecture}: found neither NVRTC nor nvcc (hint: install \
                     NVRTC with `pip install nvidia-cuda-nvrtc`, or name another one with `--nvrtc`)"
                ),
            ),
        };
        chosen.ok_or(KernelBuildError::NoCompiler(lack))
    }
}

impl Compiler for GpuCompiler {
    fn identity(&self) -> &str {
        &self.identity
    }

    fn target(&self) -> String {
        self.architecture.to_string()
    }

    fn lack(&self) -> Option<String> {
        let lack = || "found neither NVRTC nor nvcc".to_owned();
        self.compilers.is_empty().then(lack)
    }

    fn notices(&self) -> Vec<String> {
        let notice = self.compilers.first().and_then(|chosen| {
            let instead = instead(chosen.code(self.architecture).ok()?, self.architecture)?;
            let (version, architecture) = (chosen.version(), self.architecture);
            Some(format!(
                "{version} does not support {architecture}: kernels are compiled {instead} (hint: a newer version may support it)"
            ))
        });
        notice.into_iter().collect()
    }

    fn made_by(&self, compiled: &Path) -> String {
        let described = |tool: Option<String>| tool.unwrap_or_else(|| self.identity.clone());
        match Maker::from_path(compiled) {
            Some(Maker::Nvrtc | Maker::NvrtcOfDevice | Maker::NvrtcAsMarked) => described(self.compilers.nvrtc()),
            Some(Maker::Nvcc) => described(self.compilers.nvcc()),
            Some(Maker::Given) => "none".to_owned(),
            None => self.identity.clone(),
        }
    }

    fn made_otherwise(&self, source: &Source, compiled: &Path) -> Option<String> {
        let name = &source.name;
        match (Maker::from_path(compiled)?, self.compilers.second()) {
            (Maker::NvrtcOfDevice, _) => Some(format!(
                "NVRTC compiles `{name}` only without its host code (hint: set `compiler = nvcc` in `cuda_source!` to compile all of it)"
            )),
            (Maker::Nvcc, Some(nvcc)) if source.form == SourceForm::Cuda && self.compilers.nvrtc.is_some() => {
                Some(format!(
                    "`{name}` is compiled by {}, because NVRTC cannot compile it unchanged (hint: set `compiler = nvcc` in `cuda_source!` to use only nvcc)",
                    nvcc.version()
                ))
            }
            _ => None,
        }
    }

    /// If the source does not compile, other kernels may be the reason: then only what the wanted
    /// ones need is compiled.
    fn compile(&self, wanted: Wanted<'_>) -> Result<PathBuf, KernelBuildError> {
        let error = match self.compile_all(wanted) {
            Err(error @ (KernelBuildError::Compile { .. } | KernelBuildError::Both { .. })) => error,
            done => return done,
        };
        let Some(needed) = needed_code_of(wanted.source, wanted.names) else {
            return Err(error);
        };
        let of_needed = self.compile_all(Wanted {
            source: &needed,
            ..wanted
        });
        match of_needed {
            Err(part @ KernelBuildError::Interrupted) => Err(part),
            Err(part) => Err(narrowed(error, part)),
            done => done,
        }
    }

    fn compile_library(&self, wanted: Wanted<'_>, linked: &[PathBuf]) -> Result<PathBuf, KernelBuildError> {
        let source = wanted.source;
        let nvcc = self.compilers.nvcc.as_ref().ok_or_else(|| {
            KernelBuildError::NoCompiler(format!(
                "cannot compile the host code of `{}`: it needs nvcc, which was not found (hint: put nvcc on the path, \
                 or name it with `--nvcc`)",
                source.name
            ))
        })?;
        let path = store::cached_library(wanted, &nvcc.version(), self.architecture);
        if is_intact(&path) {
            return Ok(path);
        }
        let options = source_options(source, Dialect::Nvcc)?;
        let architecture = wanted_architecture(source, &options, self.architecture)?;
        let scratch = Scratch::new(wanted.cache, source)?;
        let job = Job {
            wanted,
            device: self.architecture,
            code: nvcc.code(architecture)?,
            maker: Maker::Nvcc,
            source_options: &options,
            scratch: &scratch,
        };
        let library = nvcc.library(&job, &scratch.add_libraries(linked)?)?;
        cache_file::keep(&path, &library).map_err(KernelBuildError::io("write", &path))?;
        Ok(path)
    }
}

/// Returns the options of a source for a compiler.
///
/// # Errors
/// The first option that the compiler does not get.
fn source_options(source: &Source, dialect: Dialect) -> Result<SourceOptions, KernelBuildError> {
    parse_options(&source.options, dialect).map_err(|option| {
        KernelBuildError::Unusable(format!(
            "`{}` has the option `{option}`, which is not passed to {} (hint: remove it if it concerns host code; \
             `docs/gpu-kernels.md` lists the supported options)",
            source.name,
            dialect.name()
        ))
    })
}

impl GpuCompiler {
    fn compile_all(&self, wanted: Wanted<'_>) -> Result<PathBuf, KernelBuildError> {
        let Wanted { source, names, .. } = wanted;
        if !source.form.is_compiled() {
            let image = accept(source, names, self.architecture)?;
            return keep(
                store::cached(wanted, Maker::Given, "as it is", self.architecture),
                &image,
            );
        }
        let chosen = self.choose(source)?;
        let of_chosen = match self.compile_with(chosen, chosen.maker(), wanted) {
            Err(error @ KernelBuildError::Compile { .. }) if chosen.dialect() == Dialect::Nvrtc => error,
            done => return done,
        };
        // The source may include host headers or define host functions, which only nvcc supports.
        let of_nvcc = match self
            .compilers
            .second()
            .map(|nvcc| self.compile_with(nvcc, Maker::Nvcc, wanted))
        {
            Some(Ok(image)) => return Ok(image),
            Some(Err(error @ KernelBuildError::Interrupted)) => return Err(error),
            Some(Err(error)) => Some(error),
            None => None,
        };
        let of_device = device_code_of(source, self.unmarked);
        let without_host = Wanted {
            source: &of_device,
            ..wanted
        };
        let maker = match self.unmarked {
            Unmarked::IsDeviceCode => Maker::NvrtcOfDevice,
            Unmarked::IsHostCode => Maker::NvrtcAsMarked,
        };
        match (self.compile_with(chosen, maker, without_host), of_nvcc) {
            (Ok(image), _) => Ok(image),
            (Err(error @ KernelBuildError::Interrupted), _) => Err(error),
            (Err(error), None) if self.reported == Reported::DeviceCode => Err(error),
            (Err(_), Some(of_nvcc)) => Err(KernelBuildError::Both {
                nvcc: Box::new(of_nvcc),
                nvrtc: Box::new(of_chosen),
            }),
            (Err(_), None) => Err(of_chosen),
        }
    }

    fn compile_with(&self, chosen: &dyn Tool, maker: Maker, wanted: Wanted<'_>) -> Result<PathBuf, KernelBuildError> {
        let source = wanted.source;
        let path = store::cached(wanted, maker, &chosen.version(), self.architecture);
        if store::is_image(&path) {
            return Ok(path);
        }
        let options = source_options(source, chosen.dialect())?;
        let architecture = wanted_architecture(source, &options, self.architecture)?;
        let code = chosen.code(architecture)?;
        let scratch = Scratch::new(wanted.cache, source)?;
        let image = chosen.compile(&Job {
            wanted,
            device: self.architecture,
            code,
            maker,
            source_options: &options,
            scratch: &scratch,
        })?;
        keep(path, &image)
    }
}

/// Describes the output for a device that the compiler does not support directly.
fn instead(code: Code, device: Architecture) -> Option<String> {
    match code {
        Code::Ptx(architecture) => Some(format!("to PTX for {architecture}, and the driver compiles the rest")),
        Code::Machine(architecture) if architecture.capability != device.capability => {
            Some(format!("for {architecture}, whose code also runs on this GPU"))
        }
        Code::Machine(_) => None,
    }
}

fn keep(path: PathBuf, image: &KernelImage) -> Result<PathBuf, KernelBuildError> {
    store::write(&path, image).map_err(KernelBuildError::io("write", &path))?;
    Ok(path)
}
