//! Sources that nvcc compiles.

use std::sync::atomic::AtomicBool;

use gpubench::catalog::{Source, SourceForm};
use gpubench_device::compilers::{Compiler as _, GpuCompiler, GpuCompilers, Wanted};

use super::tools::{
    CUDA_12, CUDA_13, compile, compile_separately, has_symbol, names, nvrtc_and_nvcc, nvrtc_in, sm, source,
};

fn nvcc_alone() -> GpuCompilers {
    nvrtc_and_nvcc(&CUDA_13).without_nvrtc()
}

/// Code that NVRTC cannot compile.
const SOURCE: &str = "#include <cstdio>\n#include <vector>\n#include <algorithm>\n\
    namespace image { template <class T, int N> __global__ void blur(T *x) { x[0] = N; } }\n\
    struct Wide { double a, b; };\n\
    template <class T> __global__ void rotate(T *x, T *y) { x[0] = y[1]; }\n\
    extern \"C\" __global__ void by_name(float *x) { x[0] = 1; }\n\
    namespace { __global__ void hidden(float *x) { x[0] = 1; } }\n\
    __constant__ float weights[4];\n\
    std::vector<int> on_the_host;\n";

const WANTED: &[&str] = &["image::blur<float, 2>", "rotate<Wide>", "by_name", "hidden", "&weights"];

#[test]
fn a_source_that_asks_for_nvcc_gets_it() {
    let mut asking = source(&[("src/image.cu", SOURCE)]);
    asking.form = SourceForm::CudaForNvcc;
    let image = compile(nvrtc_and_nvcc(&CUDA_12), "sm_90", &asking, WANTED).expect("it compiles");
    assert_eq!(image.symbol("image::blur<float, 2>"), "_ZN5image4blurIfLi2EEEvPT_");
    assert_eq!(image.symbol("by_name"), "by_name");
    assert_eq!(image.symbol("&weights"), "weights");
    for name in WANTED {
        assert!(has_symbol(&image, image.symbol(name)), "{name}");
    }
    assert!(!has_symbol(&image, "gb_kernel_n0"), "what the tool adds is gone");
    let error = compile(nvrtc_in(&CUDA_12), "sm_90", &asking, WANTED).expect_err("there is none");
    assert!(
        error
            .to_string()
            .starts_with("cannot compile `image.cu`: it needs nvcc, which was not found (hint: "),
        "{error}"
    );
}

#[test]
fn nvcc_replaces_a_missing_nvrtc() {
    let plain = source(&[("src/image.cu", SOURCE)]);
    let image = compile(nvcc_alone(), "sm_75", &plain, WANTED).expect("it compiles");
    assert_eq!(image.names.len(), WANTED.len());
}

#[test]
fn its_errors_name_files_lines_and_names() {
    let text = "#include <cstdio>\ntemplate <int N> __global__ void blur(float *x) { static_assert(N < 10, \"too large\"); x[0] = N; }\n\
        __global__ void plain(float *x) { x[0] = 1; }\n";
    let wanted = ["plain", "blur<2>", "blur<12>", "blur<none>", "blur", "grey"];
    let (image, rejected) = compile_separately(nvcc_alone(), &source(&[("src/a.cu", text)]), &wanted);
    assert_eq!(image.expect("two compile").names.len(), 2);
    let messages: Vec<String> = rejected
        .iter()
        .map(|(name, error)| format!("{name}: {error}"))
        .collect();
    insta::assert_snapshot!(messages.join("\n\n"));
    let wrong = source(&[("src/a.cu", "\n__global__ void k(float *x) { x[0] = undeclared; }\n")]);
    let error = compile(nvcc_alone(), "sm_90", &wrong, &["k"]).expect_err("it is wrong");
    assert!(error.to_string().contains("src/a.cu:2: error:"), "{error}");
}

#[test]
fn architectures_with_features_and_newer_devices_are_compiled_for() {
    let text = "__global__ void k(float *x) { asm volatile(\"setmaxnreg.inc.sync.aligned.u32 240;\"); x[0] = 1; }\n";
    let mut featured = source(&[("k.cu", text)]);
    featured.options = names(&["-arch=sm_90a", "--expt-relaxed-constexpr", "-O3"]);
    compile(nvcc_alone(), "sm_90", &featured, &["k"]).expect("it compiles");
    let plain = source(&[("k.cu", "__global__ void k(float *x) { x[0] = 1; }\n")]);
    let image = compile(nvcc_alone(), "sm_150", &plain, &["k"]).expect("it compiles");
    assert!(image.image.ends_with(b"\0") && !image.image.starts_with(b"\x7fELF"));
}

/// A typical file: a kernel, and the host code that launches it.
const WITH_HOST_CODE: &str = "#include <fstream>\n#include <vector>\nvoid prototype(std::vector<float> &);\n\
    static std::ofstream journal;\n__device__ float twice(float x) { return 2 * x; }\n\
    __global__ void k(float *x) { x[0] = twice(x[0]); }\n\
    void prototype(std::vector<float> &x) { k<<<1, 1>>>(x.data()); cudaDeviceSynchronize(); }\n\
    int main() { return 0; }\n";

/// Returns the compiler of a source's code, and the warnings about it.
fn made(compilers: GpuCompilers, source: &Source) -> (String, Option<String>) {
    let cache = tempfile::tempdir().expect("a directory");
    let compiler = GpuCompiler::new(sm("sm_90"), compilers);
    let compiled = compiler.compile(Wanted {
        source,
        names: &names(&["k"]),
        cache: cache.path(),
        interrupt: &AtomicBool::new(false),
        most: None,
    });
    let path = compiled.expect("it compiles");
    let by = compiler.made_by(&path);
    (
        by.split(' ').next().unwrap_or_default().to_owned(),
        compiler.made_otherwise(source, &path),
    )
}

#[test]
fn the_compiler_is_known_and_reported_if_it_is_not_nvrtc() {
    let plain = source(&[("k.cu", "__global__ void k(float *x) { x[0] = 1; }\n")]);
    assert_eq!(made(nvrtc_and_nvcc(&CUDA_13), &plain), ("NVRTC".to_owned(), None));
    let with_host = source(&[("k.cu", WITH_HOST_CODE)]);
    let (by, notice) = made(nvrtc_and_nvcc(&CUDA_13), &with_host);
    assert_eq!(by, "nvcc");
    assert!(
        notice
            .expect("a notice")
            .contains("because NVRTC cannot compile it unchanged")
    );
    let (by, notice) = made(nvrtc_in(&CUDA_13), &with_host);
    assert_eq!(by, "NVRTC");
    assert!(notice.expect("a notice").contains("without its host code"));
}

#[test]
fn errors_of_both_compilers_are_shown_nvcc_first() {
    let text = "#include <fstream>\n__global__ void k(float *x) { x[0] = wrong; }\n";
    let error =
        compile(nvrtc_and_nvcc(&CUDA_13), "sm_90", &source(&[("k.cu", text)]), &["k"]).expect_err("it is wrong");
    let messages = error.to_string();
    let (of_nvcc, of_nvrtc) = messages.split_once("\nNVRTC: ").expect("both are there");
    assert!(
        of_nvcc.starts_with("nvcc: ") && of_nvcc.contains("k.cu:2: error: identifier \"wrong\""),
        "{messages}"
    );
    assert!(of_nvrtc.contains("cannot open source file \"fstream\""), "{messages}");
}
