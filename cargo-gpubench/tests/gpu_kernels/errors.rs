//! Sources that do not compile for a GPU, and their error messages.

use std::path::{Path, PathBuf};

use gpubench_device::compilers::{GpuCompilers, NamedCompilers};

use super::tools::{CUDA_12, compile, compile_separately, names, nvrtc_in, source, tool};

fn rejection(files: &[(&str, &str)], wanted: &[&str]) -> String {
    compile(nvrtc_in(&CUDA_12), "sm_90", &source(files), wanted)
        .expect_err("it is rejected")
        .to_string()
}

#[test]
fn an_error_names_the_users_file_and_line() {
    let text = "#include \"shared/tile.cuh\"\n__global__ void gray(float *x) {\n    x[0] = undeclared;\n}\n";
    let tile = "__device__ float f() {\n  return wrong;\n}\n";
    insta::assert_snapshot!(rejection(
        &[("src/image.cu", text), ("src/shared/tile.cuh", tile)],
        &["gray"]
    ));
    insta::assert_snapshot!(rejection(&[("src/image.cu", "#include \"nowhere.cuh\"\n")], &["gray"]));
}

const TEMPLATES: &str = "namespace image {\n\
    template <int N> __global__ void blur(float *x) { static_assert(N < 10, \"too large\"); x[0] = N; }\n\
    }\n\
    __global__ void plain(float *x) { x[0] = 1; }\n";

#[test]
fn an_error_of_a_name_is_reported_for_that_name_only() {
    let wanted = [
        "plain",
        "image::blur<2>",
        "image::blur<12>",
        "image::blur<none>",
        "image::blur<float>",
        "image::blur",
        "grey",
    ];
    let (image, rejected) = compile_separately(nvrtc_in(&CUDA_12), &source(&[("src/a.cu", TEMPLATES)]), &wanted);
    let image = image.expect("two compile");
    assert_eq!(image.names.len(), 2);
    let messages: Vec<String> = rejected
        .iter()
        .map(|(name, error)| format!("{name}: {error}"))
        .collect();
    insta::assert_snapshot!(messages.join("\n\n"));
}

/// The first two kernels are right. The last needs more shared memory than a block may have.
const BROKEN_KERNELS: &str = "#include \"tile.cuh\"\n\
    __global__ void good(float *x) { x[0] = tile(x[1]); }\n\
    template <class T> __global__ void twice(T *x) { x[0] = x[1] + x[1]; }\n\
    __global__ void unknown(float *x) { x[0] = undeclared; }\n\
    __global__ void through(float *x) { x[0] = helper(x[1]); }\n\
    __global__ void large(float *x) { __shared__ float s[100000]; s[threadIdx.x] = x[0]; __syncthreads(); x[1] = s[7]; }\n";

#[test]
fn a_kernel_that_does_not_compile_does_not_affect_the_others_of_its_file() {
    let tile =
        "__device__ float tile(float x) { return 2 * x; }\n__device__ float helper(float x) { return without * x; }\n";
    let files = source(&[("src/a.cu", BROKEN_KERNELS), ("src/tile.cuh", tile)]);
    let wanted = ["good", "twice<double>", "unknown", "through", "large"];
    let (image, rejected) = compile_separately(nvrtc_in(&CUDA_12), &files, &wanted);
    assert_eq!(image.expect("two compile").names.len(), 2);
    let messages: Vec<String> = rejected
        .iter()
        .map(|(name, error)| format!("{name}: {error}"))
        .collect();
    insta::assert_snapshot!(messages.join("\n\n"));
}

#[test]
fn an_error_of_the_source_is_reported_once() {
    let text = "__global__ void j(float *x) {}\n__global__ void k(float *x) { x[0] = undeclared; }\n";
    insta::assert_snapshot!(rejection(&[("a.cu", text)], &["j", "k"]));
}

#[test]
fn too_much_shared_memory_is_an_error_of_the_assembler() {
    let text = "__global__ void k(float *x) { __shared__ float s[100000]; s[threadIdx.x] = x[0]; __syncthreads(); x[1] = s[7]; }\n";
    let messages = rejection(&[("a.cu", text)], &["k"]);
    assert!(messages.contains("shared data"), "{messages}");
}

#[test]
fn an_option_that_is_not_passed_on_is_named() {
    let mut wanting = source(&[("a.cu", "__global__ void k() {}\n")]);
    wanting.options = names(&["-ccbin=evil"]);
    let error = compile(nvrtc_in(&CUDA_12), "sm_90", &wanting, &["k"]).expect_err("it is refused");
    assert_eq!(
        error.to_string(),
        "`image.cu` has the option `-ccbin=evil`, which is not passed to NVRTC (hint: remove it if it concerns host code; `docs/gpu-kernels.md` lists the supported options)"
    );
}

#[test]
fn a_missing_compiler_is_an_error_of_the_source_with_a_hint() {
    let error = compile(
        GpuCompilers::default(),
        "sm_90",
        &source(&[("a.cu", "__global__ void k() {}\n")]),
        &["k"],
    );
    insta::assert_snapshot!(
        error.expect_err("there is none"),
        @"cannot compile `image.cu` for sm_90: found neither NVRTC nor nvcc (hint: install NVRTC with `pip install nvidia-cuda-nvrtc`, or name another one with `--nvrtc`)"
    );
}

#[test]
fn a_named_nvrtc_that_is_not_one_is_an_error() {
    let find = |path: &Path| {
        let named = NamedCompilers {
            nvrtc: Some(path.to_owned()),
            nvcc: None,
        };
        GpuCompilers::find(tool(), &named).expect_err("it is none").to_string()
    };
    assert_eq!(
        find(Path::new("/nowhere")),
        "`/nowhere` has no working NVRTC: no `libnvrtc.so` found"
    );
    let other = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    assert!(
        find(&other).contains("has no working NVRTC: cannot load"),
        "{}",
        find(&other)
    );
}

#[test]
fn a_crashing_library_affects_nothing_else() {
    let folder = tempfile::tempdir().expect("a directory");
    let (text, library) = (folder.path().join("crash.c"), folder.path().join("libnvrtc.so.99"));
    std::fs::write(
        &text,
        "__attribute__((constructor)) static void crash(void) { *(volatile int *)0 = 1; }\n",
    )
    .expect("a file");
    let built = std::process::Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .arg(&library)
        .arg(&text)
        .status();
    assert!(built.expect("a C compiler").success());
    let named = NamedCompilers {
        nvrtc: Some(library),
        nvcc: None,
    };
    let error = GpuCompilers::find(tool(), &named).expect_err("it crashes").to_string();
    assert!(error.contains("signal: 11"), "{error}");
}
