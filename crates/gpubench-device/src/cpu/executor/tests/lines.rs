//! The lines of processor faults.

use super::*;

/// An address that the processor refuses.
const NOWHERE: u64 = 64;

/// Returns the line of the fault of `kernel`, the only kernel of a source, in one of its threads.
fn line_of(text: &str, arguments: &[u64]) -> String {
    let kernel = kernel(text, "faulty");
    let fault = launch(&pool(1), kernel, &line(1, 40), arguments).expect_err("the kernel faults");
    let place = fault.code.and_then(|code| code.source_line(&kernel));
    place.unwrap_or_else(|| panic!("{fault} has no line"))
}

#[test]
fn an_invalid_access_names_its_line() {
    let write = "__global__ void faulty(int *out) {\n  int i = threadIdx.x;\n  out[i] = i;\n}\n";
    assert_eq!(line_of(write, &[NOWHERE]), "`kernels/test.cu:3`");
    let read = "__global__ void faulty(const int *in, int *out) {\n  int i = threadIdx.x;\n  int x = in[i];\n  \
                __syncthreads();\n  out[i] = x;\n}\n";
    let mut out = [0; 40];
    assert_eq!(line_of(read, &[NOWHERE, address(&mut out)]), "`kernels/test.cu:3`");
}

#[test]
fn a_fault_in_an_inlined_function_names_its_line_and_that_of_the_kernel() {
    let text = "__device__ int first(const int *in) {\n  return in[0];\n}\n\
                __global__ void faulty(const int *in, int *out) {\n  out[threadIdx.x] = first(in);\n}\n";
    let mut out = [0; 40];
    assert_eq!(
        line_of(text, &[NOWHERE, address(&mut out)]),
        "`kernels/test.cu:2`, called from `kernels/test.cu:5`"
    );
}

#[test]
fn a_fault_in_a_function_of_the_headers_names_the_line_that_calls_it() {
    let atomic = "__global__ void faulty(int *sum) {\n\n  atomicAdd(sum, 1);\n}\n";
    assert_eq!(line_of(atomic, &[NOWHERE]), "`kernels/test.cu:3`");
    let filled = "#include <cstring>\n__global__ void faulty(char *out, int n) {\n  int bytes = n * 1000;\n  \
                  memset(out, 1, bytes);\n  out[0] = 3;\n}\n";
    assert_eq!(line_of(filled, &[NOWHERE, 9]), "`kernels/test.cu:4`");
}

#[test]
fn a_division_by_zero_an_illegal_instruction_and_a_stack_overflow_name_their_lines() {
    let division = "__global__ void faulty(int *out, int by) {\n  int i = threadIdx.x;\n  out[i] = i / by;\n}\n";
    let mut out = [0; 40];
    assert_eq!(line_of(division, &[address(&mut out), 0]), "`kernels/test.cu:3`");
    let illegal = "__global__ void faulty() {\n  if (threadIdx.x == 7)\n    __builtin_trap();\n}\n";
    assert_eq!(line_of(illegal, &[]), "`kernels/test.cu:3`");
    let recursion = "__device__ __noinline__ int deep(volatile int *p, int n) {\n  \
                     return deep(p, n + 1) + *p;\n}\n__global__ void faulty(int *out) {\n  out[0] = deep(out, 1);\n}\n";
    let found = line_of(recursion, &[address(&mut out)]);
    assert!(
        ["`kernels/test.cu:1`", "`kernels/test.cu:2`"].contains(&found.as_str()),
        "{found}"
    );
}

#[test]
fn a_source_that_is_cut_keeps_its_lines() {
    let text = "#include <cuda_runtime.h>\n__global__ void faulty(int *out) {\n  out[threadIdx.x] = 1;\n}\n\
                void host(int *out) {\n  faulty<<<1, 32>>>(out);\n  cudaDeviceSynchronize();\n}\n";
    assert_eq!(line_of(text, &[NOWHERE]), "`kernels/test.cu:3`");
}
