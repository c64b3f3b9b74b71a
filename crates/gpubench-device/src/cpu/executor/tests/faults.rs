//! Faulty kernels and their messages.

use super::*;
use crate::cpu::executor::{Access, FaultKind};

/// A buffer that ends at an inaccessible page.
struct Guarded {
    mapping: *mut c_void,
    ints: usize,
}

const PAGE: usize = 4096;

impl Guarded {
    fn new(ints: usize) -> Guarded {
        let bytes = (ints * 4).next_multiple_of(PAGE) + PAGE;
        let (read_write, flags) = (
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
        );
        // SAFETY: it is a new mapping; its last page is then made inaccessible.
        let mapping = unsafe {
            let mapping = libc::mmap(std::ptr::null_mut(), bytes, read_write, flags, -1, 0);
            assert_ne!(mapping, libc::MAP_FAILED);
            assert_eq!(libc::mprotect(mapping.byte_add(bytes - PAGE), PAGE, libc::PROT_NONE), 0);
            mapping
        };
        Guarded { mapping, ints }
    }

    fn end(&self) -> u64 {
        self.mapping as u64 + (self.ints * 4).next_multiple_of(PAGE) as u64
    }

    fn start(&self) -> u64 {
        self.end() - self.ints as u64 * 4
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: `new` made the mapping.
        unsafe { libc::munmap(self.mapping, (self.ints * 4).next_multiple_of(PAGE) + PAGE) };
    }
}

fn fault(text: &str, name: &str, shape: &LaunchShape, arguments: &[u64]) -> KernelFault {
    let kernel = kernel(text, name);
    let pool = pool(2);
    let fault = launch(&pool, kernel, shape, arguments).expect_err("the kernel faults");
    let again = launch(&pool, kernel, shape, arguments).expect_err("the kernel faults again: the pool stays usable");
    assert_eq!(fault.kind, again.kind);
    fault
}

#[test]
fn an_invalid_write_of_a_vectorized_kernel_is_traced_to_its_block_and_thread() {
    let text = "__global__ void fill(int *out) { out[blockIdx.x * blockDim.x + threadIdx.x] = 7; }";
    let buffer = Guarded::new(1000);
    let found = fault(text, "fill", &line(4, 256), &[buffer.start()]);
    assert_eq!(
        found.kind,
        FaultKind::Access {
            address: buffer.end() as usize,
            access: Access::Write
        }
    );
    assert_eq!((found.block, found.thread), ([3, 0, 0], Some([1000 - 768, 0, 0])));
}

#[test]
fn an_invalid_read_after_a_barrier_is_traced_to_its_thread() {
    let text = "__global__ void gather(const int *in, int *out) {
        __shared__ int sum;
        if (threadIdx.x == 0 && threadIdx.y == 0) sum = 0;
        __syncthreads();
        if (threadIdx.y == 3 && threadIdx.x == 5) atomicAdd(&sum, in[blockIdx.x + 99]);
        __syncthreads();
        out[blockIdx.x] = sum;
    }";
    let buffer = Guarded::new(100);
    let mut out = [0; 8];
    let shape = LaunchShape {
        grid: [2, 1, 1],
        block: [8, 4, 1],
        dynamic_shared: 0,
    };
    let found = fault(text, "gather", &shape, &[buffer.start(), address(&mut out)]);
    assert_eq!(
        found.kind,
        FaultKind::Access {
            address: buffer.end() as usize,
            access: Access::Read
        }
    );
    assert_eq!((found.block, found.thread), ([1, 0, 0], Some([5, 3, 0])));
}

#[test]
fn a_fault_that_happens_once_is_traced_if_the_kernel_has_barriers() {
    let text = "__global__ void once(int *flag, int *out) {
        __syncthreads();
        if (threadIdx.x == 11 && *flag == 0) { *flag = 1; out[1 << 30] = 1; }
        __syncthreads();
    }";
    let (mut flag, buffer) = ([0], Guarded::new(1));
    let kernel = kernel(text, "once");
    let arguments = [address(&mut flag), buffer.end() - (4u64 << 30)];
    let found = launch(&pool(1), kernel, &line(1, 32), &arguments).expect_err("the first run faults");
    assert_eq!((found.block, found.thread), ([0, 0, 0], Some([11, 0, 0])));
}

#[test]
fn a_kernel_that_only_stores_to_null_faults() {
    let text = "__global__ void store(long *) { *(volatile int *)0 = 1; }";
    let kind = fault(text, "store", &line(1, 1), &[0]).kind;
    let expected = FaultKind::Access {
        address: 0,
        access: Access::Write,
    };
    assert_eq!(kind, expected);
}

#[test]
fn a_null_pointer_and_an_impossible_address_are_reported() {
    let text = "__global__ void store(long *out) { *out = threadIdx.x; }";
    assert_eq!(
        fault(text, "store", &line(1, 1), &[0]).kind,
        FaultKind::Access {
            address: 0,
            access: Access::Write
        }
    );
    let unmappable = 0x8000_0000_0000_0000;
    let kind = fault(text, "store", &line(1, 1), &[unmappable]).kind;
    assert!(
        matches!(
            kind,
            FaultKind::Access {
                access: Access::Unknown,
                ..
            }
        ),
        "{kind}"
    );
}

#[test]
fn a_division_by_zero_is_traced_to_its_thread() {
    let text = "__global__ void divide(int *out, const int *by) { out[threadIdx.x] = 100 / by[threadIdx.x]; }";
    let (mut out, mut by) = ([0; 64], [3; 64]);
    by[41] = 0;
    let found = fault(text, "divide", &line(1, 64), &[address(&mut out), address(&mut by)]);
    assert_eq!(
        (found.kind, found.thread),
        (FaultKind::DivisionByZero, Some([41, 0, 0]))
    );
}

#[test]
fn endless_recursion_is_a_stack_overflow_of_its_thread() {
    let text = "__device__ __noinline__ int deep(volatile int *p, int n) {
            volatile int pad[64]; pad[n % 64] = n; return deep(p, n + 1) + pad[*p % 64]; }
        __global__ void dive(int *out) { if (threadIdx.x == 9) out[0] = deep(out, 1); }";
    let mut out = [0; 1];
    let found = fault(text, "dive", &line(2, 32), &[address(&mut out)]);
    assert_eq!((found.kind, found.thread), (FaultKind::StackOverflow, Some([9, 0, 0])));
}

#[test]
fn a_frame_larger_than_the_guard_is_a_stack_overflow_too() {
    let text = "__global__ void hog(int *out, int n) {
        volatile char large[1 << 22]; large[n] = 1; out[0] = large[n]; }";
    let mut out = [0; 1];
    assert_eq!(
        fault(text, "hog", &line(1, 1), &[address(&mut out), 5]).kind,
        FaultKind::StackOverflow
    );
}

#[test]
fn traps_and_assertions_are_reported_with_line_and_thread() {
    let text = "#include <cassert>\n__global__ void check(int *out) {\n  assert(threadIdx.x != 6);\n  out[threadIdx.x] = 1;\n}\n\
                __global__ void stop() {\n  if (threadIdx.x == 3) __trap();\n}\n";
    let mut out = [0; 32];
    let found = fault(text, "check", &line(1, 32), &[address(&mut out)]);
    assert_eq!(
        (found.kind, found.thread),
        (FaultKind::Assert { line: 3 }, Some([6, 0, 0]))
    );
    let found = fault(text, "stop", &line(1, 32), &[]);
    assert_eq!(
        (found.kind, found.thread),
        (FaultKind::Trap { line: 7 }, Some([3, 0, 0]))
    );
}

#[test]
fn a_barrier_missed_by_one_thread_is_reported() {
    let text = "__global__ void leave() {\n  if (threadIdx.x == 77) return;\n  __syncthreads();\n}\n";
    let found = fault(text, "leave", &line(3, 128), &[]);
    assert_eq!(
        found.kind,
        FaultKind::BarrierDivergence {
            line: 3,
            arrived: 127,
            of: 128
        }
    );
    assert_eq!(found.block, [0, 0, 0]);
}

#[test]
fn a_barrier_reached_by_only_one_thread_is_reported() {
    let text = "__global__ void alone(int *out) {\n  if (threadIdx.x == 77)\n    __syncthreads();\n  out[threadIdx.x] = 1;\n}\n";
    let mut out = [0; 128];
    let found = fault(text, "alone", &line(1, 128), &[address(&mut out)]);
    assert_eq!(
        found.kind,
        FaultKind::BarrierDivergence {
            line: 3,
            arrived: 1,
            of: 128
        }
    );
}

#[test]
fn threads_at_different_barriers_are_reported_with_both_lines() {
    let text =
        "__global__ void fork() {\n  if (threadIdx.x < 48)\n    __syncthreads();\n  else\n    __syncthreads();\n}\n";
    let found = fault(text, "fork", &line(1, 64), &[]);
    assert_eq!(
        found.kind,
        FaultKind::BarrierMismatch {
            lines: [3, 5],
            arrived: [48, 16],
            of: 64
        }
    );
}

#[test]
fn unequal_numbers_of_barriers_are_reported() {
    let text =
        "__global__ void loop() {\n  for (int i = 0; i < 2 + (threadIdx.x == 5); i++)\n    __syncthreads();\n}\n";
    let found = fault(text, "loop", &line(1, 64), &[]);
    assert_eq!(
        found.kind,
        FaultKind::BarrierDivergence {
            line: 3,
            arrived: 1,
            of: 64
        }
    );
}

#[test]
fn a_shuffle_missed_by_half_of_a_warp_is_reported() {
    let text = "__global__ void half(int *out) {\n  int v = threadIdx.x;\n  if (threadIdx.x % 32 < 16)\n    v = __shfl_xor_sync(0xffffffff, v, 1);\n  __syncthreads();\n  out[threadIdx.x] = v;\n}\n";
    let mut out = [0; 64];
    let found = fault(text, "half", &line(1, 64), &[address(&mut out)]);
    assert_eq!(
        found.kind,
        FaultKind::WarpDivergence {
            line: 4,
            mask: u32::MAX,
            arrived: 16
        }
    );
}

#[test]
fn shuffles_on_different_lines_do_not_match() {
    let text = "__global__ void apart(int *out) {\n  int v = threadIdx.x;\n  if (threadIdx.x % 32 < LOWER)\n    v = __shfl_xor_sync(0xffffffff, v, 1);\n  else\n    v = __shfl_xor_sync(0xffffffff, v, 2);\n  out[threadIdx.x] = v;\n}\n";
    for lower in ["1", "16", "31"] {
        let mut out = [0; 64];
        let found = fault(
            &text.replace("LOWER", lower),
            "apart",
            &line(1, 64),
            &[address(&mut out)],
        );
        let FaultKind::WarpDivergence { line, mask, arrived } = found.kind else {
            panic!("{found:?}");
        };
        assert!([4, 6].contains(&line) && mask == u32::MAX && arrived < 32, "{found:?}");
    }
}

#[test]
fn the_fault_of_the_lowest_block_is_kept_and_other_launches_run() {
    let text = "__global__ void some(int *out, int bad) { if (blockIdx.x == bad) __trap(); out[blockIdx.x] = 1; }";
    let mut out = [0; 1000];
    let pool = pool(2);
    let kernel = kernel(text, "some");
    let found = launch(&pool, kernel, &line(1000, 1), &[address(&mut out), 900]).expect_err("block 900 traps");
    assert_eq!(found.block, [900, 0, 0]);
    launch(&pool, kernel, &line(1000, 1), &[address(&mut out), 1000]).expect("no block traps");
    assert_eq!(out, [1; 1000]);
}

#[test]
fn an_invalid_launch_is_refused() {
    let text = "__global__ void one(int *out) { *out = 1; }";
    let (pool, kernel) = (pool(1), kernel(text, "one"));
    for shape in [line(0, 1), line(1, 0), line(1, 1025)] {
        let refused = launch(&pool, kernel, &shape, &[0]).expect_err("the shape is impossible");
        assert_eq!(refused.kind, FaultKind::InvalidLaunch);
    }
    assert_eq!(
        launch(&pool, kernel, &line(1, 1), &[])
            .expect_err("an argument lacks")
            .kind,
        FaultKind::InvalidLaunch
    );
}

#[test]
fn fault_messages_read_as_sentences() {
    let fault = KernelFault {
        kind: FaultKind::BarrierDivergence {
            line: 12,
            arrived: 127,
            of: 128,
        },
        block: [3, 0, 0],
        thread: None,
        code: None,
    };
    assert_eq!(
        fault.to_string(),
        "barrier at line 12 reached by 127 of 128 threads in block (3, 0, 0)"
    );
    let access = FaultKind::Access {
        address: 0x1000,
        access: Access::Write,
    };
    let fault = KernelFault {
        kind: access,
        block: [0, 1, 0],
        thread: Some([232, 0, 0]),
        code: None,
    };
    assert_eq!(
        fault.to_string(),
        "invalid write at address 0x1000 in block (0, 1, 0), thread (232, 0, 0)"
    );
}
