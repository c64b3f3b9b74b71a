//! Sources with kernels that do not compile, next to others that do.

use super::super::Compiled;
use super::*;
use gpubench_diagnostic::is_full_disk;

/// Compiles the kernels of a source separately. Returns the names of those that compile, and the
/// messages about the others.
fn separated(text: &str, names: &[&str]) -> (Vec<String>, Vec<String>) {
    let cache = tempfile::tempdir().expect("a directory");
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    let Compiled { library, rejected } = HostCompiler::find()
        .expect("a C++ compiler")
        .compile_separately(Wanted {
            source: &source_of(text),
            names: &names,
            cache: cache.path(),
            interrupt: &AtomicBool::new(false),
            most: None,
        })
        .expect("the source itself compiles");
    let good: Vec<String> = names
        .iter()
        .filter(|name| !rejected.contains_key(*name))
        .cloned()
        .collect();
    assert_eq!(library.is_some(), !good.is_empty());
    (good, rejected.values().map(ToString::to_string).collect())
}

const TWO_BAD_KERNELS: &str = "\
template <class T> __device__ T twice(T x) { return x + x; }
__global__ void good(float *x);
__global__ void calls(unsigned *x) {
    x[0] = twice(__unknown(x[1]));
}
__device__ float helper(float x) { return without * x; }
__global__ void through(float *x) { x[0] = helper(x[1]); }
template <class T> __global__ void adds(T *x) { x[0] = twice(x[0]) + unheard_of; }
template __global__ void adds<float>(float *);
struct Sum { float value = 0; __device__ void add(float x) { value += x; } __device__ void bad() { value = nothing; } };
__global__ void good(float *x) { Sum sum; sum.add(x[0]); x[0] = twice(sum.value); }
";

#[test]
fn a_kernel_that_does_not_compile_does_not_affect_others() {
    let (good, messages) = separated(TWO_BAD_KERNELS, &["calls", "good", "through", "adds<int>"]);
    assert_eq!(good, ["good"]);
    insta::assert_snapshot!(messages.join("\n"), @r"
    could not compile `a.cu` for the CPU device
    a.cu: In function 'void adds(T*)':
    a.cu:8:70: error: 'unheard_of' was not declared in this scope
        8 | template <class T> __global__ void adds(T *x) { x[0] = twice(x[0]) + unheard_of; }
          |                                                                      ^~~~~~~~~~
    could not compile `a.cu` for the CPU device
    a.cu: In function 'void calls(unsigned int*)':
    a.cu:4:18: error: '__unknown' was not declared in this scope
        4 |     x[0] = twice(__unknown(x[1]));
          |                  ^~~~~~~~~
    could not compile `a.cu` for the CPU device
    a.cu: In function 'float helper(float)':
    a.cu:6:43: error: 'without' was not declared in this scope
        6 | __device__ float helper(float x) { return without * x; }
          |                                           ^~~~~~~
    ");
}

#[test]
fn a_kernel_that_nobody_wants_need_not_compile() {
    let (good, _) = separated(TWO_BAD_KERNELS, &["good"]);
    assert_eq!(good, ["good"]);
}

#[test]
fn a_kernel_that_does_not_link_does_not_affect_others() {
    let text = "__device__ float elsewhere(float);\n\
        __global__ void far(float *x) { x[0] = elsewhere(x[1]); }\n\
        __global__ void near(float *x) { x[0] = 1; }\n";
    let (good, messages) = separated(text, &["far", "near"]);
    assert_eq!(good, ["near"]);
    assert!(
        messages[0].contains("a.cu:1: error: `elsewhere(float)` is declared but not defined"),
        "{messages:?}"
    );
}

#[test]
fn a_kernel_with_too_much_shared_memory_does_not_affect_others() {
    let text = "__global__ void large(float *x) { __shared__ float all[20000]; all[threadIdx.x] = 1; __syncthreads(); x[0] = all[3]; }\n\
        __global__ void small(float *x) { __shared__ float all[20]; all[threadIdx.x] = 1; __syncthreads(); x[0] = all[3]; }\n";
    let (good, messages) = separated(text, &["large", "small"]);
    assert_eq!(good, ["small"]);
    assert!(messages[0].contains("`all`"), "{messages:?}");
}

#[test]
fn code_that_a_kernel_needs_without_naming_it_stays() {
    let text = "\
__global__ void bad(float *x) { x[0] = wrong; }
struct Three {
    __device__ const float *begin() const { return values; }
    __device__ const float *end() const { return values + 3; }
    float values[3];
};
__device__ Three operator+(Three a, Three b) { for (int i = 0; i < 3; i++) a.values[i] += b.values[i]; return a; }
__global__ void good(float *x) { Three all{{x[0], x[1], x[2]}}; x[0] = 0; for (float value : all + all) x[0] += value; }
";
    let (good, _) = separated(text, &["bad", "good"]);
    assert_eq!(good, ["good"]);
}

#[test]
fn a_source_cannot_claim_that_the_disk_is_full() {
    let cache = tempfile::tempdir().expect("a directory");
    let error = HostCompiler::find()
        .expect("a C++ compiler")
        .compile(Wanted {
            source: &source_of("#error No space left on device\n__global__ void k() {}\n"),
            names: &["k".to_owned()],
            cache: cache.path(),
            interrupt: &AtomicBool::new(false),
            most: None,
        })
        .expect_err("it does not compile");
    assert!(
        matches!(error, KernelBuildError::Compile { .. }) && !is_full_disk(&error),
        "{error:?}"
    );
}
