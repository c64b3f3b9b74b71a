//! PTX, cubins and fatbins that other compilers made, used unchanged.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use gpubench::catalog::{Source, SourceForm};
use gpubench_device::compilers::{Compiler as _, GpuCompilers, HostCompiler, Wanted};

use super::tools::{CUDA_12, CUDA_13, compile, names, nvrtc_in, source};

const TEXT: &str =
    "extern \"C\" __global__ void affine(float *x) { x[0] = 1; }\n__global__ void mangled(float *x) { x[0] = 2; }\n";

/// Compiles the source with nvcc and these options.
fn made(options: &[&str]) -> Source {
    let folder = tempfile::tempdir().expect("a directory");
    let (text, image) = (folder.path().join("a.cu"), folder.path().join("image"));
    std::fs::write(&text, TEXT).expect("a file");
    let nvcc = CUDA_13.join("nvidia/cu13/bin/nvcc");
    let built = Command::new(nvcc)
        .args(options)
        .arg("-o")
        .arg(&image)
        .arg(&text)
        .status();
    assert!(built.expect("nvcc").success());
    image_source(&image)
}

fn image_source(path: &Path) -> Source {
    let mut image = source(&[("src/image", "")]);
    image.files[0].contents = std::fs::read(path).expect("an image");
    image.form = SourceForm::of_image(&image.files[0].contents);
    image
}

/// Returns whether a device accepts an image without any compiler.
fn taken(image: &Source, architecture: &str) -> Result<(), String> {
    let taken = compile(
        GpuCompilers::default(),
        architecture,
        image,
        &["affine", "_Z7mangledPf"],
    );
    taken.map(|_| ()).map_err(|error| error.to_string())
}

#[test]
fn images_run_on_their_architectures() {
    let ptx = made(&["--ptx", "-arch=sm_80"]);
    assert_eq!(ptx.form, SourceForm::Ptx);
    assert_eq!(taken(&ptx, "sm_90"), Ok(()));
    assert_eq!(
        taken(&ptx, "sm_75"),
        Err("`image.cu` is for sm_80 and later, but this device is sm_75".into())
    );
    let cubin = made(&["--cubin", "-arch=sm_80"]);
    assert_eq!(cubin.form, SourceForm::Cubin);
    assert_eq!(taken(&cubin, "sm_86"), Ok(()));
    assert_eq!(
        taken(&cubin, "sm_90"),
        Err("`image.cu` is for sm_80, but this device is sm_90".into())
    );
    let fatbin = made(&[
        "--fatbin",
        "-gencode=arch=compute_80,code=sm_80",
        "-gencode=arch=compute_90a,code=sm_90a",
        "-gencode=arch=compute_100,code=compute_100",
    ]);
    assert_eq!(fatbin.form, SourceForm::Fatbin);
    for architecture in ["sm_80", "sm_90", "sm_120"] {
        assert_eq!(taken(&fatbin, architecture), Ok(()), "{architecture}");
    }
    assert_eq!(
        taken(&fatbin, "sm_75"),
        Err("`image.cu` is for sm_80, sm_90a, sm_100 and later, but this device is sm_75".into())
    );
}

#[test]
fn a_cubin_of_an_older_compiler_is_read_too() {
    let image = compile(nvrtc_in(&CUDA_12), "sm_90", &source(&[("a.cu", TEXT)]), &["affine"]).expect("it compiles");
    let mut cubin = source(&[("src/image", "")]);
    (cubin.form, cubin.files[0].contents) = (SourceForm::Cubin, image.image);
    assert_eq!(taken(&cubin, "sm_90"), Ok(()));
    assert_eq!(
        taken(&cubin, "sm_80"),
        Err("`image.cu` is for sm_90, but this device is sm_80".into())
    );
}

#[test]
fn an_unknown_kernel_of_a_cubin_is_named_with_those_that_exist() {
    let cubin = made(&["--cubin", "-arch=sm_80"]);
    let error = compile(GpuCompilers::default(), "sm_80", &cubin, &["mangled"]).expect_err("another name");
    let message = error.to_string();
    assert!(
        message.starts_with("unknown kernel `mangled`; `image.cu` defines `"),
        "{message}"
    );
    assert!(
        message.contains("`affine`") && message.contains("`_Z7mangledPf`"),
        "{message}"
    );
}

#[test]
fn the_cpu_device_refuses_images_by_name() {
    let cache = tempfile::tempdir().expect("a directory");
    let mut image = source(&[("a.ptx", ".target sm_80\n")]);
    image.form = SourceForm::Ptx;
    let compiler = HostCompiler::find().expect("a C++ compiler");
    let error = compiler
        .compile(Wanted {
            source: &image,
            names: &names(&["k"]),
            cache: cache.path(),
            interrupt: &AtomicBool::new(false),
            most: None,
        })
        .expect_err("it is refused");
    assert_eq!(
        error.to_string(),
        "`image.cu` cannot run on the CPU device: it is PTX, which only GPUs can run"
    );
}
