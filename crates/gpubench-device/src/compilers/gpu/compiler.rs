//! The compilers of a machine as one compiler for a GPU.

use std::path::{Path, PathBuf};

use gpubench::catalog::{Source, SourceForm};

use super::super::compiler::{Compiler, Wanted};
use super::super::error::KernelBuildError;
use super::super::scratch::Scratch;
use super::device_code::device_code_of;
use super::find::{Surroundings, named, named_nvcc, nvcc_beside};
use super::image::accept;
use super::job::{Code, Job, wanted_architecture};
use super::nvcc::Nvcc;
use super::nvrtc::NvrtcCompiler;
use super::options::{Dialect, wishes};
use super::store::{self, Maker};
use crate::cuda::{Architecture, KernelImage};
use gpubench_diagnostic::{ExitCode, Expected};

/// `--nvrtc` names nothing that works.
#[derive(Debug, thiserror::Error)]
#[error("`{}` has no NVRTC that works: {reason}", .path.display())]
pub struct NvrtcNotFound {
    /// What was named.
    pub path: PathBuf,
    /// What is wrong.
    pub reason: String,
}

impl Expected for NvrtcNotFound {
    fn exit_code(&self) -> ExitCode {
        ExitCode::SetupMissing
    }

    fn hint(&self) -> Option<String> {
        let hint = "name `libnvrtc.so` or a folder that has it, such as a toolkit or Python's `site-packages` after \
                    `pip install nvidia-cuda-nvrtc`";
        Some(hint.to_owned())
    }
}

/// `--nvcc` names nothing that works.
#[derive(Debug, thiserror::Error)]
#[error("`{}` has no nvcc that works", .path.display())]
pub struct NvccNotFound {
    /// What was named.
    pub path: PathBuf,
}

impl Expected for NvccNotFound {
    fn exit_code(&self) -> ExitCode {
        ExitCode::SetupMissing
    }

    fn hint(&self) -> Option<String> {
        let hint = "name the program, or a folder that has it, such as a toolkit or Python's `site-packages` after `pip install nvidia-cuda-nvcc`";
        Some(hint.to_owned())
    }
}

/// A compiler that is named is none.
#[derive(Debug, thiserror::Error)]
pub enum NamedNotFound {
    /// That of `--nvrtc`.
    #[error(transparent)]
    Nvrtc(#[from] NvrtcNotFound),
    /// That of `--nvcc`.
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

/// Compilers that are named instead of looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedCompilers {
    /// NVRTC: a library, or a folder to look in.
    pub nvrtc: Option<PathBuf>,
    /// nvcc: its executable, or a folder to look in.
    pub nvcc: Option<PathBuf>,
}

/// The compilers for GPUs that a machine has. Either may be missing, both too: then only what is
/// compiled already can be used.
#[derive(Clone, Debug, Default)]
pub struct GpuCompilers {
    nvrtc: Option<NvrtcCompiler>,
    nvcc: Option<Nvcc>,
}

impl GpuCompilers {
    /// Looks for those that are not named. `tool` is the executable of `cargo gpubench`, in a
    /// process of which NVRTC runs.
    ///
    /// # Errors
    /// If what is named as NVRTC or as nvcc is none.
    pub fn find(tool: &Path, compilers: &NamedCompilers) -> Result<GpuCompilers, NamedNotFound> {
        let around = Surroundings::of_this_process();
        let beside = compilers.nvrtc.as_deref().map_or_else(Vec::new, nvcc_beside);
        let nvcc = match &compilers.nvcc {
            Some(path) => Some(Nvcc::find(&named_nvcc(path)).ok_or_else(|| NvccNotFound { path: path.clone() })?),
            None => Nvcc::find(&around.nvcc(&beside)),
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

    /// Whether sources can be compiled here.
    pub fn is_empty(&self) -> bool {
        self.nvrtc.is_none() && self.nvcc.is_none()
    }

    /// NVRTC's version and path, for people.
    pub fn nvrtc(&self) -> Option<String> {
        self.nvrtc.as_ref().map(Tool::described)
    }

    /// nvcc's version and path, for people.
    pub fn nvcc(&self) -> Option<String> {
        self.nvcc.as_ref().map(Tool::described)
    }

    /// The one that is used where it does not matter: NVRTC.
    fn first(&self) -> Option<&dyn Tool> {
        match &self.nvrtc {
            Some(nvrtc) => Some(nvrtc),
            None => self.second(),
        }
    }

    /// nvcc.
    fn second(&self) -> Option<&dyn Tool> {
        self.nvcc.as_ref().map(|nvcc| nvcc as &dyn Tool)
    }

    /// The same without nvcc.
    #[must_use]
    pub fn without_nvcc(self) -> GpuCompilers {
        GpuCompilers { nvcc: None, ..self }
    }

    /// The same without NVRTC.
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
        libraries if libraries.is_empty() => Err(fail("there is no `libnvrtc.so`".to_owned())),
        libraries => NvrtcCompiler::find(tool, libraries).map_err(fail),
    }
}

/// Compiles kernels for GPUs of one architecture.
#[derive(Clone, Debug)]
pub struct GpuCompiler {
    architecture: Architecture,
    compilers: GpuCompilers,
    identity: String,
}

impl GpuCompiler {
    /// A compiler for an architecture.
    pub fn new(architecture: Architecture, compilers: GpuCompilers) -> GpuCompiler {
        let names = [compilers.nvrtc(), compilers.nvcc()];
        let names: Vec<String> = names.into_iter().flatten().collect();
        GpuCompiler {
            architecture,
            identity: match names.is_empty() {
                true => "none".to_owned(),
                false => names.join(", "),
            },
            compilers,
        }
    }

    /// The architecture it compiles for.
    pub fn architecture(&self) -> Architecture {
        self.architecture
    }

    /// The compiler that a source needs.
    fn choose(&self, source: &Source) -> Result<&dyn Tool, KernelBuildError> {
        let (name, architecture) = (&source.name, self.architecture);
        let (chosen, lack) = match source.form {
            SourceForm::CudaForNvcc => (
                self.compilers.second(),
                format!(
                    "cannot compile `{name}`, which asks for nvcc: found none (hint: install the CUDA toolkit or `pip install \
                     nvidia-cuda-nvcc`, and put nvcc on the path or name it in `NVCC`)"
                ),
            ),
            _ => (
                self.compilers.first(),
                format!(
                    "cannot compile `{name}` for {architecture}: found neither NVRTC nor nvcc (hint: `pip install nvidia-cuda-nvrtc` brings \
                     NVRTC; where it lies elsewhere, name it with `--nvrtc`)"
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
                "{version} does not know {architecture}: kernels are compiled {instead} (hint: a newer version may know it)"
            ))
        });
        notice.into_iter().collect()
    }

    fn made_by(&self, compiled: &Path) -> String {
        let described = |tool: Option<String>| tool.unwrap_or_else(|| self.identity.clone());
        match Maker::of(compiled) {
            Some(Maker::Nvrtc | Maker::NvrtcOfDevice) => described(self.compilers.nvrtc()),
            Some(Maker::Nvcc) => described(self.compilers.nvcc()),
            Some(Maker::Given) => "none".to_owned(),
            None => self.identity.clone(),
        }
    }

    fn made_otherwise(&self, source: &Source, compiled: &Path) -> Option<String> {
        let name = &source.name;
        match (Maker::of(compiled)?, self.compilers.second()) {
            (Maker::NvrtcOfDevice, _) => Some(format!(
                "NVRTC compiles `{name}` without its code of the host only (hint: `compiler = nvcc` in `cuda_source!` compiles all of it)"
            )),
            (Maker::Nvcc, Some(nvcc)) if source.form == SourceForm::Cuda && self.compilers.nvrtc.is_some() => {
                Some(format!(
                    "`{name}` is compiled by {}, since NVRTC cannot compile it as it is (hint: `compiler = nvcc` in `cuda_source!` says so)",
                    nvcc.version()
                ))
            }
            _ => None,
        }
    }

    fn compile(&self, wanted: Wanted<'_>) -> Result<PathBuf, KernelBuildError> {
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
        // It may include headers of the host or have functions of the host, which only nvcc knows.
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
        let of_device = device_code_of(source);
        let without_host = Wanted {
            source: &of_device,
            ..wanted
        };
        match (self.compile_with(chosen, Maker::NvrtcOfDevice, without_host), of_nvcc) {
            (Ok(image), _) => Ok(image),
            (Err(error @ KernelBuildError::Interrupted), _) => Err(error),
            (Err(_), Some(of_nvcc)) => Err(KernelBuildError::Both {
                nvcc: Box::new(of_nvcc),
                nvrtc: Box::new(of_chosen),
            }),
            (Err(_), None) => Err(of_chosen),
        }
    }
}

impl GpuCompiler {
    fn compile_with(&self, chosen: &dyn Tool, maker: Maker, wanted: Wanted<'_>) -> Result<PathBuf, KernelBuildError> {
        let source = wanted.source;
        let path = store::cached(wanted, maker, &chosen.version(), self.architecture);
        if store::is_image(&path) {
            return Ok(path);
        }
        let wishes = wishes(&source.options, chosen.dialect()).map_err(|option| {
            KernelBuildError::Unusable(format!(
                "`{}` asks for the option `{option}`, which is not passed to {} (hint: leave it out if it is about host code; \
                 `docs/gpu-kernels.md` lists the options that are passed on)",
                source.name,
                chosen.dialect().name()
            ))
        })?;
        let architecture = wanted_architecture(source, &wishes, self.architecture)?;
        let scratch = Scratch::new(wanted.cache, source)?;
        let image = chosen.compile(&Job {
            wanted,
            device: self.architecture,
            code: chosen.code(architecture)?,
            wishes: &wishes,
            scratch: &scratch,
        })?;
        keep(path, &image)
    }
}

/// What is made for a device that a compiler does not know.
fn instead(code: Code, device: Architecture) -> Option<String> {
    match code {
        Code::Ptx(architecture) => Some(format!("to PTX for {architecture}, and the driver compiles the rest")),
        Code::Machine(architecture) if architecture.capability != device.capability => {
            Some(format!("for {architecture}, whose code runs there as well"))
        }
        Code::Machine(_) => None,
    }
}

fn keep(path: PathBuf, image: &KernelImage) -> Result<PathBuf, KernelBuildError> {
    store::write(&path, image).map_err(KernelBuildError::io("write", &path))?;
    Ok(path)
}

/// NVRTC, or nvcc.
pub(super) trait Tool {
    /// How its options are written.
    fn dialect(&self) -> Dialect;

    /// What a file that it makes is called.
    fn maker(&self) -> Maker {
        match self.dialect() {
            Dialect::Nvrtc => Maker::Nvrtc,
            Dialect::Nvcc => Maker::Nvcc,
        }
    }

    /// Its name and version.
    fn version(&self) -> String;

    /// The file that it is.
    fn path(&self) -> &Path;

    /// The compute capabilities it compiles for, ascending.
    fn capabilities(&self) -> &[u32];

    /// Compiles.
    fn compile(&self, job: &Job<'_>) -> Result<KernelImage, KernelBuildError>;

    /// What it makes for an architecture.
    fn code(&self, wanted: Architecture) -> Result<Code, KernelBuildError> {
        Code::for_device(wanted, self.capabilities()).ok_or_else(|| {
            let oldest = self.capabilities().first().copied().unwrap_or(0);
            KernelBuildError::Unusable(format!(
                "{} compiles for sm_{oldest} and later, but the device is {wanted} (hint: use an older version of it)",
                self.version()
            ))
        })
    }

    /// Its version and path, for people.
    fn described(&self) -> String {
        format!("{} ({})", self.version(), self.path().display())
    }
}
