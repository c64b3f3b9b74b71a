//! Kernels that overrun static `__shared__` variables.

use super::*;
use crate::cpu::executor::FaultKind;

/// All threads of the block fill each array, whatever its size.
const FILLS: &str = "template <int N> __global__ void fill(float *out) {
    __shared__ float tile[N];
    tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}
__global__ void between(float *out) {
    __shared__ float before[256];
    __shared__ float tile[64];
    __shared__ float after[256];
    before[threadIdx.x] = after[threadIdx.x] = 1;
    tile[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = before[threadIdx.x] + tile[255 - threadIdx.x] + after[threadIdx.x];
}
namespace of { __shared__ double one; }
__shared__ int of_the_file[3];
__global__ void write(int at, int to) {
    __shared__ char bytes[5];
    of::one = 1;
    if (threadIdx.x != 5 || blockIdx.x != 2) return;
    if (to == 0) bytes[at] ^= 0xff;
    if (to == 1) of_the_file[at] ^= -1;
    if (to == 2) (&of::one)[at] = 3;
}
__global__ void read(int *out, int at) { of_the_file[0] = 0; *out = of_the_file[at]; }";

fn found(name: &str, pool: &Pool, shape: &LaunchShape, arguments: &[u64]) -> Result<(), KernelFault> {
    let names = ["between", "write", "read"].into_iter();
    let fills = ["fill<64>", "fill<250>", "fill<255>", "fill<256>"];
    let module = build(FILLS, &names.chain(fills).collect::<Vec<_>>()).expect("it compiles");
    launch(pool, module.kernel(name).expect("it is exported"), shape, arguments)
}

fn overrun(name: &'static str, offset: i64, bytes: usize) -> FaultKind {
    FaultKind::StaticShared { name, offset, bytes }
}

#[test]
fn an_overrun_array_is_named_however_long_the_overrun() {
    for pool in [pool(1), pool(2), permuted(3)] {
        for (kernel, elements) in [
            ("fill<64>", 64),
            ("fill<250>", 250),
            ("fill<255>", 255),
            ("between", 64),
        ] {
            let mut out = vec![0.0f32; 256];
            let fault = found(kernel, &pool, &line(1, 256), &[address(&mut out)]).expect_err(kernel);
            assert_eq!(
                (fault.kind, fault.thread),
                (overrun("tile", 4 * elements, 4 * elements as usize), None),
                "{kernel}"
            );
        }
        let mut out = vec![0.0f32; 256];
        found("fill<256>", &pool, &line(1, 256), &[address(&mut out)]).expect("it keeps to its array");
        assert!(
            out.iter()
                .rev()
                .zip(0..=255_u8)
                .all(|(out, thread)| *out == f32::from(thread))
        );
    }
}

#[test]
fn writes_next_to_any_variable_are_found_in_their_block() {
    let pool = pool(2);
    for (to, at, expected) in [
        (0, 5, overrun("bytes", 5, 5)),
        (0, -1, overrun("bytes", -1, 5)),
        (0, 68, overrun("bytes", 68, 5)),
        (0, -64, overrun("bytes", -64, 5)),
        (1, 3, overrun("of_the_file", 12, 12)),
        (2, 1, overrun("one", 8, 8)),
    ] {
        let arguments = [u64::from(at as u32), to];
        let fault = found("write", &pool, &line(4, 32), &arguments).expect_err("it is outside");
        assert_eq!((fault.kind, fault.block), (expected, [2, 0, 0]));
    }
    for (to, last) in [(0, 4), (1, 2), (2, 0)] {
        found("write", &pool, &line(4, 32), &[last, to]).expect("it is inside");
    }
}

#[test]
fn reads_after_a_variable_return_noise() {
    for at in [-1_i32, 3] {
        let mut out = [0_i32];
        let arguments = [address(&mut out), u64::from(at as u32)];
        found("read", &pool(1), &line(1, 1), &arguments).expect("a read does not show");
        assert!(out[0].unsigned_abs() > 1 << 16, "{out:?}");
    }
}

#[test]
fn overrun_messages_read_as_sentences() {
    assert_eq!(
        overrun("tile", 256, 256).to_string(),
        "invalid write of byte 256 of the shared array `tile`, which has 256 bytes"
    );
    assert_eq!(
        overrun("tile", -4, 256).to_string(),
        "invalid write 4 bytes before the start of the shared array `tile`"
    );
}

#[test]
fn static_arrays_that_no_gpu_has_room_for_do_not_compile() {
    let source = |first: usize, second: usize| {
        format!(
            "template <int N> __device__ float of_another(int i) {{ __shared__ float own[N]; own[i] = i; return own[i]; }}
             __global__ void k(float *y) {{
                 __shared__ float first[{first}];
                 __shared__ float second[{second}];
                 first[threadIdx.x] = second[threadIdx.x] = y[threadIdx.x];
                 __syncthreads();
                 y[threadIdx.x] = first[0] + second[0] + of_another<4096>(threadIdx.x);
             }}"
        )
    };
    assert!(build(&source(8192, 4096), &["k"]).is_ok(), "48 KiB in each function");
    let refused = build(&source(8193, 4096), &["k"]).expect_err("one element more");
    let message = refused.to_string();
    assert!(
        message.contains("`first`, `second` have 49156 bytes of static shared memory in a kernel")
            || message.contains("`second`, `first` have 49156 bytes of static shared memory in a kernel"),
        "{message}"
    );
}

#[test]
fn what_no_kernel_has_written_is_not_zero() {
    let source = "__global__ void fixed(int *out) {
        __shared__ int tile[1000];
        if (threadIdx.x > 300) tile[threadIdx.x] = 1;
        out[threadIdx.x] = tile[threadIdx.x * 3];
    }
    __global__ void requested(int *out) {
        extern __shared__ int tile[];
        out[threadIdx.x] = tile[threadIdx.x * 3];
    }";
    for (name, bytes) in [("fixed", 0), ("requested", 4000)] {
        let mut out = vec![0i32; 256];
        let shape = requesting(line(1, 256), bytes);
        launch(&pool(1), kernel(source, name), &shape, &[address(&mut out)]).expect("it may read its own memory");
        assert!(!out.contains(&0), "{name}");

        let in_order = |seed| {
            let mut out = vec![0i32; 256];
            launch(&permuted(seed), kernel(source, name), &shape, &[address(&mut out)]).expect("as above");
            out
        };
        // A thread keeps its variables.
        let orders =
            [1, 2].map(|seed| std::thread::scope(|scope| scope.spawn(|| in_order(seed)).join()).expect("done"));
        assert!(
            out != orders[0] && orders[0] != orders[1],
            "{name}: each order has noise of its own"
        );
    }
}
