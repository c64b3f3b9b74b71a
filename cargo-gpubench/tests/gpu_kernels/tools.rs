//! The compilers, their inputs and their outputs.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use gpubench::catalog::{Source, SourceFile, SourceForm};
use gpubench_device::compilers::{Compiler as _, GpuCompiler, GpuCompilers, KernelBuildError, NamedCompilers, Wanted};
use gpubench_device::cuda::{Architecture, KernelImage};
use gpubench_diagnostic::testing::{self, CudaPackages};

/// Python packages, which a test can use like the path of their folder.
pub(crate) struct Packages(&'static CudaPackages);

/// The compilers of CUDA 12 and 13.
pub(crate) static CUDA_12: Packages = Packages(&testing::CUDA_12);
pub(crate) static CUDA_13: Packages = Packages(&testing::CUDA_13);

impl Deref for Packages {
    type Target = Path;

    #[track_caller]
    fn deref(&self) -> &Path {
        self.0.folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
    }
}

/// Returns the folder of NVIDIA's programs that print SASS.
pub(crate) fn sass_tools() -> PathBuf {
    Packages(&testing::SASS).join("nvidia/cu13/bin")
}

/// Returns the NVRTC of a package folder, without any nvcc.
pub(crate) fn nvrtc_in(folder: &Path) -> GpuCompilers {
    find(folder, None).without_nvcc()
}

/// Returns an NVRTC of one version and the nvcc of CUDA 13.
pub(crate) fn nvrtc_and_nvcc(folder: &Path) -> GpuCompilers {
    find(folder, Some(CUDA_13.join("nvidia/cu13/bin/nvcc")))
}

fn find(nvrtc: &Path, nvcc: Option<PathBuf>) -> GpuCompilers {
    let named = NamedCompilers {
        nvrtc: Some(nvrtc.to_owned()),
        nvcc,
    };
    GpuCompilers::find(tool(), &named).expect("the compilers work")
}

/// Returns the executable that runs NVRTC.
pub(crate) fn tool() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_cargo-gpubench"))
}

pub(crate) fn source(files: &[(&str, &str)]) -> Source {
    let file = |&(path, text): &(&str, &str)| SourceFile {
        path: path.into(),
        contents: text.into(),
    };
    Source {
        name: "image.cu".into(),
        form: SourceForm::Cuda,
        files: files.iter().map(file).collect(),
        options: Vec::new(),
    }
}

pub(crate) fn sm(architecture: &str) -> Architecture {
    architecture.parse().expect("an architecture")
}

pub(crate) fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// Compiles with an empty cache.
pub(crate) fn compile(
    compilers: GpuCompilers,
    architecture: &str,
    source: &Source,
    wanted: &[&str],
) -> Result<KernelImage, KernelBuildError> {
    let cache = tempfile::tempdir().expect("a directory");
    let compiler = GpuCompiler::new(sm(architecture), compilers);
    let path = compiler.compile(Wanted {
        source,
        names: &names(wanted),
        cache: cache.path(),
        interrupt: &AtomicBool::new(false),
        most: None,
    })?;
    Ok(read(&path))
}

/// Compiles the kernels one by one if they do not compile together. Returns the images and the
/// errors.
pub(crate) fn compile_separately(
    compilers: GpuCompilers,
    source: &Source,
    wanted: &[&str],
) -> (Option<KernelImage>, BTreeMap<String, String>) {
    let cache = tempfile::tempdir().expect("a directory");
    let compiler = GpuCompiler::new(sm("sm_90"), compilers);
    let compiled = compiler
        .compile_separately(Wanted {
            source,
            names: &names(wanted),
            cache: cache.path(),
            interrupt: &AtomicBool::new(false),
            most: None,
        })
        .expect("the source compiles");
    let rejected = compiled.rejected.into_iter();
    (
        compiled.library.as_deref().map(read),
        rejected.map(|(name, error)| (name, error.to_string())).collect(),
    )
}

pub(crate) fn read(path: &Path) -> KernelImage {
    let bytes = std::fs::read(path).expect("the file is there");
    KernelImage::decode(&bytes).expect("an image")
}

/// Returns whether a cubin's string table has a symbol.
pub(crate) fn has_symbol(image: &KernelImage, symbol: &str) -> bool {
    assert!(image.image.starts_with(b"\x7fELF"), "it is machine code");
    let name = [b"\0", symbol.as_bytes(), b"\0"].concat();
    image.image.windows(name.len()).any(|window| window == name)
}
