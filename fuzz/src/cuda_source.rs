//! CUDA C++ sources.

use gpubench::catalog::{Source, SourceFile, SourceForm};
use gpubench_device::compilers::{cut_for_cpu, declared_kernels, declared_parameters, makes_kernels_by_macros};

/// The path in the crate.
const PATH: &str = "src/kernels.cu";

/// Finds the kernels of a source and their parameters, and cuts the host's code out of it.
pub fn run(data: &[u8]) {
    let source = Source {
        name: "kernels.cu".to_owned(),
        form: SourceForm::Cuda,
        files: vec![SourceFile {
            path: PATH.to_owned(),
            contents: data.to_vec(),
        }],
        options: Vec::new(),
    };
    let _ = makes_kernels_by_macros(&source);
    let kernels = declared_kernels(&source);
    for kernel in &kernels {
        let _ = declared_parameters(&source, kernel);
    }
    // The analysis reads what the preprocessor prints: lines that name files, and marked kernels.
    let text = source.files[0].text().replace("__global__", "gb_mark_global");
    let text = text.replace("__device__", "gb_mark_device");
    let _ = cut_for_cpu(&source, &format!("# 1 \"{PATH}\"\n{text}"), &kernels);
}

/// Returns sources with what the analysis tells apart.
pub fn seeds() -> Vec<Vec<u8>> {
    SOURCES.iter().map(|text| text.as_bytes().to_vec()).collect()
}

const SOURCES: [&str; 5] = [
    include_str!("../../kernels/problems/src/reduction.cu"),
    include_str!("../../kernels/problems/src/transpose.cu"),
    include_str!("../../kernels/harness/cuda/harness.cu"),
    r#"
#include <cstdio>
#define TILE 16 \
    + 1
namespace a { inline namespace b {
template <typename T, int N = (3 > 2)> struct S { T x[N]; operator T() const { return x[0]; } };
}}
template <class T> __global__ void __launch_bounds__(256, 2) k(const T *__restrict__ x, T *y, a::S<T> s, size_t n) {
    extern __shared__ T tile[];
    auto i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n) y[i] = x[i] + s;
    asm volatile("bar.sync 0;" ::: "memory");
}
template __global__ void k<float>(const float *, float *, a::S<float>, size_t);
"#,
    r#"
static const char *text = R"x(__global__ void not_a_kernel() {})x", quote = '\'';
/* __global__ void nor_this(); */ // } {
__device__ __constant__ float table[4] = {1, 2, 3, 4};
typedef struct { int a; float b[2]; } pair;
extern "C" __global__ void f(pair p, int (*rows)[4]) { __syncthreads(); }
int main() { f<<<1, 32, 0, nullptr>>>({}, nullptr); cudaDeviceSynchronize(); printf("%s", text); }
[[nodiscard]] auto g() -> decltype(f) *;
enum class E : unsigned { A = 1u << 3, B };
"#,
];
