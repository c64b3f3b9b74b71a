//! The limits of dynamic shared memory.

use super::*;
use crate::cpu::executor::{Access, FaultKind, MAX_DYNAMIC_SHARED};

/// Every thread writes a word, and reads another one after a barrier.
const REVERSE: &str = "__global__ void reverse(int *out) {
    extern __shared__ int tile[];
    tile[threadIdx.x] = threadIdx.x + 1;
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}";

/// One thread accesses one byte.
const TOUCH: &str = "__global__ void write(int at) {
    extern __shared__ unsigned char bytes[];
    if (threadIdx.x == 5) bytes[at] ^= 0xff;
}
__global__ void read(unsigned char *out, int at) {
    extern __shared__ unsigned char bytes[];
    if (threadIdx.x == 5) *out = bytes[at];
}";

fn reversed(pool: &Pool, threads: u32, bytes: u32) -> Result<Vec<i32>, KernelFault> {
    let mut out = vec![0; 3 * threads as usize];
    let shape = requesting(line(3, threads), bytes);
    launch(pool, kernel(REVERSE, "reverse"), &shape, &[address(&mut out)])?;
    Ok(out)
}

fn expected(threads: u32) -> Vec<i32> {
    (0..3)
        .flat_map(|_| (1..=threads).rev())
        .map(|value| value as i32)
        .collect()
}

fn touched(name: &str, requested: u32, at: i32) -> Result<(), KernelFault> {
    let module = build(TOUCH, &["write", "read"]).expect("it compiles");
    let kernel = module.kernel(name).expect("it is exported");
    let (mut out, at) = ([0u8], u64::from(at as u32));
    let shape = requesting(line(2, 32), requested);
    match name {
        "read" => launch(&pool(1), kernel, &shape, &[address(&mut out), at]),
        _ => launch(&pool(1), kernel, &shape, &[at]),
    }
}

fn overrun(access: Access, offset: i64, requested: u32) -> FaultKind {
    FaultKind::DynamicShared {
        access,
        offset,
        requested,
    }
}

#[test]
fn requested_memory_is_usable_to_the_last_byte() {
    for pool in [pool(1), pool(2), permuted(4)] {
        for threads in [1, 31, 64, 255, 256] {
            assert_eq!(reversed(&pool, threads, 4 * threads), Ok(expected(threads)));
        }
    }
    for requested in [1, 127, 128, 129, 4096, 48 << 10, MAX_DYNAMIC_SHARED] {
        for at in [0, requested - 1] {
            assert_eq!(
                touched("write", requested, at as i32),
                Ok(()),
                "byte {at} of {requested}"
            );
        }
    }
}

#[test]
fn memory_that_was_not_requested_faults_in_the_first_thread() {
    let fault = reversed(&pool(1), 64, 0).expect_err("the launch has none");
    assert_eq!(
        (fault.kind, fault.block, fault.thread),
        (overrun(Access::Write, 0, 0), [0; 3], Some([0; 3]))
    );
    for at in [-4, 0, 1 << 16] {
        let fault = touched("read", 0, at).expect_err("the launch has none");
        assert_eq!(
            (fault.kind, fault.thread),
            (overrun(Access::Read, at.into(), 0), Some([5, 0, 0]))
        );
    }
}

#[test]
fn an_access_after_whole_cache_lines_faults_in_its_thread() {
    for access in [Access::Read, Access::Write] {
        for (requested, at) in [(128, 128), (1024, 1024), (1024, 5000), (MAX_DYNAMIC_SHARED, 300_000)] {
            let fault = touched(&access.to_string(), requested, at).expect_err("it is past the end");
            assert_eq!(
                (fault.kind, fault.thread),
                (overrun(access, at.into(), requested), Some([5, 0, 0]))
            );
        }
    }
    let fault = reversed(&pool(1), 256, 896).expect_err("the launch has too few bytes");
    assert_eq!(
        (fault.kind, fault.thread),
        (overrun(Access::Write, 896, 896), Some([224, 0, 0]))
    );
}

#[test]
fn a_write_next_to_the_memory_is_found_when_its_block_has_ended() {
    for (requested, at) in [(1020, 1020), (1020, 1023), (1, 127), (1024, -1), (1, -128)] {
        let fault = touched("write", requested, at).expect_err("it is next to the memory");
        assert_eq!(
            (fault.kind, fault.block, fault.thread),
            (overrun(Access::Write, at.into(), requested), [0; 3], None)
        );
    }
}

#[test]
fn a_pool_stays_usable_after_an_overrun() {
    let pool = pool(2);
    for _ in 0..3 {
        let fault = reversed(&pool, 256, 1020).expect_err("the launch has too few bytes");
        assert_eq!((fault.kind, fault.thread), (overrun(Access::Write, 1020, 1020), None));
        assert_eq!(reversed(&pool, 255, 1020), Ok(expected(255)));
    }
}

/// A coroutine at a barrier keeps its place in the kernel from one launch to the next, and its
/// addresses.
#[test]
fn each_launch_has_its_own_limit() {
    for pool in [pool(1), pool(2), permuted(9)] {
        for threads in [64, 256, 32, 1, 512, 64] {
            assert_eq!(reversed(&pool, threads, 4 * threads), Ok(expected(threads)));
            assert_eq!(reversed(&pool, threads, 8192), Ok(expected(threads)));
        }
        let fault = reversed(&pool, 64, 128).expect_err("the launch has half of it");
        assert!(matches!(fault.kind, FaultKind::DynamicShared { requested: 128, .. }));
    }
}

#[test]
fn arrays_are_aligned_for_vectors() {
    let text = "__global__ void place(unsigned long long *out) {
        extern __shared__ __align__(128) float4 quads[];
        *out = reinterpret_cast<unsigned long long>(quads);
    }";
    let kernel = kernel(text, "place");
    for requested in [0, 1, 100, 1000, 48 << 10] {
        let mut out = [1u64];
        launch(
            &pool(1),
            kernel,
            &requesting(line(1, 1), requested),
            &[address(&mut out)],
        )
        .expect("no fault");
        assert_eq!(out[0] % 128, 0, "{requested}");
    }
}

/// The array works, but overruns are not detected.
#[test]
fn an_array_without_a_descriptor_has_the_maximum_size() {
    let text = "extern __shared__ __attribute__((tls_model(\"local-dynamic\"))) int words[];
        __global__ void last(int *out) { words[58111] = 7; __syncthreads(); *out = words[58111]; }";
    let mut out = [0];
    launch(&pool(1), kernel(text, "last"), &line(1, 1), &[address(&mut out)]).expect("no fault");
    assert_eq!(out, [7]);
}

#[test]
fn overrun_messages_read_as_sentences() {
    assert_eq!(
        overrun(Access::Read, 0, 0).to_string(),
        "invalid read of dynamic shared memory, but the launch has none (hint: set `.shared(bytes)` on its grid)"
    );
    assert_eq!(
        overrun(Access::Write, 1020, 1020).to_string(),
        "invalid write of byte 1020 of dynamic shared memory, but the launch has 1020 bytes (hint: set `.shared(bytes)` on its grid)"
    );
    assert_eq!(
        overrun(Access::Write, -4, 64).to_string(),
        "invalid write 4 bytes before the start of dynamic shared memory"
    );
}
