//! Kernels for the CPU device that a GPU's compiler judges.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use gpubench::catalog::Source;
use gpubench_device::compilers::{GpuCheck, GpuCompilers, GpuVerdict, Wanted};

use super::tools::{CUDA_12, names, nvrtc_in, source};

const CALLS_A_HOST_FUNCTION: &str = "float twice(float x) { return 2 * x; }\n\
    __global__ void plain(float *x) { x[0] = 1; }\n\
    __global__ void k(float *x) { x[0] = twice(x[1]); }\n";

fn judged(compilers: GpuCompilers, source: &Source, wanted: &[&str]) -> GpuVerdict {
    let cache = tempfile::tempdir().expect("a directory");
    GpuCheck::by(compilers).judge(Wanted {
        source,
        names: &names(wanted),
        cache: cache.path(),
        interrupt: &AtomicBool::new(false),
        most: None,
    })
}

fn refused(text: &str, wanted: &[&str]) -> BTreeMap<String, String> {
    match judged(nvrtc_in(&CUDA_12), &source(&[("src/k.cu", text)]), wanted) {
        GpuVerdict::Refused(refused) => refused,
        other => panic!("{other:?}"),
    }
}

fn assert_accepted(text: &str) {
    let verdict = judged(nvrtc_in(&CUDA_12), &source(&[("src/k.cu", text)]), &["k"]);
    assert!(matches!(verdict, GpuVerdict::Accepted), "{verdict:?}");
}

#[test]
fn a_host_function_in_a_kernel_is_refused_with_the_compilers_words() {
    insta::assert_snapshot!(refused(CALLS_A_HOST_FUNCTION, &["k"])["k"]);
}

#[test]
fn a_host_function_is_refused_in_a_file_with_host_code_too() {
    let with_host_code = format!(
        "#include <vector>\n{CALLS_A_HOST_FUNCTION}\
         void launch(std::vector<float> &x) {{ k<<<1, 1>>>(x.data()); cudaDeviceSynchronize(); }}\n"
    );
    let refused = refused(&with_host_code, &["k", "plain"]);
    assert_eq!(refused.len(), 1, "the other kernel calls none: {refused:?}");
    let said = &refused["k"];
    assert!(
        said.contains("src/k.cu:2: error: A function without execution space"),
        "{said}"
    );
}

#[test]
fn a_vector_of_the_standard_library_is_refused_in_a_kernel() {
    let text = "#include <vector>\n__global__ void k(float *x) { std::vector<float> v(2); x[0] = v.size(); }\n";
    let said = &refused(text, &["k"])["k"];
    assert!(said.contains("src/k.cu:2: error: "), "{said}");
}

#[test]
fn code_for_the_cpu_device_alone_is_accepted() {
    assert_accepted(
        "#ifdef __GPUBENCH_CPU__\nfloat twice(float x) { return 2 * x; }\n\
         __global__ void k(float *x) { x[0] = twice(x[1]); }\n#endif\n",
    );
    assert_accepted(
        "#include <cstdio>\nconstexpr int half(int n) { return n / 2; }\n\
         void launch(float *x) { k<<<1, 1>>>(x); }\n\
         __global__ void k(float *x) { x[0] = half(6); }\n",
    );
}

#[test]
fn a_source_for_one_architecture_is_compiled_for_it() {
    let text = "__global__ void k(float *x) { asm volatile(\"setmaxnreg.inc.sync.aligned.u32 240;\"); x[0] = 1; }\n";
    let mut for_sm_90a = source(&[("src/k.cu", text)]);
    for_sm_90a.options = names(&["-arch=sm_90a"]);
    let verdict = judged(nvrtc_in(&CUDA_12), &for_sm_90a, &["k"]);
    assert!(matches!(verdict, GpuVerdict::Accepted), "{verdict:?}");
}

#[test]
fn a_missing_header_of_a_library_is_no_mistake_of_the_source() {
    let text = "#include <curand_kernel.h>\n__global__ void k(curandState *x) { x[0] = curandState(); }\n";
    match judged(nvrtc_in(&CUDA_12), &source(&[("src/k.cu", text)]), &["k"]) {
        GpuVerdict::Unchecked(notice) => insta::assert_snapshot!(notice),
        other => panic!("{other:?}"),
    }
}

#[test]
fn without_a_compiler_only_calls_of_host_functions_are_reported() {
    let calling = source(&[("src/k.cu", CALLS_A_HOST_FUNCTION)]);
    match judged(GpuCompilers::default(), &calling, &["k"]) {
        GpuVerdict::Unchecked(notice) => insta::assert_snapshot!(notice),
        other => panic!("{other:?}"),
    }
    let verdict = judged(GpuCompilers::default(), &calling, &["plain"]);
    assert!(matches!(verdict, GpuVerdict::Accepted), "{verdict:?}");
}
