//! What CUDA promises of barriers, warps and shared memory.

use super::*;

#[test]
fn a_barrier_separates_writes_from_reads_of_shared_memory() {
    let text = r#"
        template <int N> __global__ void reverse(const int *in, int *out) {
            __shared__ int tile[N];
            for (int round = 0; round < 3; round++) {
                __syncthreads();
                tile[threadIdx.x] = in[blockIdx.x * N + threadIdx.x] + round;
                __syncthreads();
                out[blockIdx.x * N + threadIdx.x] = tile[N - 1 - threadIdx.x];
            }
        }
    "#;
    let input: Vec<i32> = (0..2560).collect();
    for pool in [pool(1), pool(2), permuted(7)] {
        let (mut from, mut out) = (input.clone(), vec![0; 2560]);
        let arguments = [address(&mut from), address(&mut out)];
        launch(&pool, kernel(text, "reverse<256>"), &line(10, 256), &arguments).expect("no fault");
        for (index, &value) in out.iter().enumerate() {
            assert_eq!(value as usize, index / 256 * 256 + 255 - index % 256 + 2);
        }
    }
}

#[test]
fn extern_shared_arrays_are_one_memory_whatever_their_namespace() {
    let text = r#"
        namespace image { __device__ int first() { extern __shared__ int words[]; return words[0]; } }
        __global__ void sum(int *out) {
            extern __shared__ __align__(16) unsigned char bytes[];
            int *words = reinterpret_cast<int *>(bytes);
            if (threadIdx.x == 0) words[0] = 0;
            __syncthreads();
            atomicAdd(&words[0], int(threadIdx.x));
            __syncthreads();
            if (threadIdx.x == 0) out[blockIdx.x] = image::first();
        }
    "#;
    let mut out = vec![0; 6];
    launch(&pool(2), kernel(text, "sum"), &line(6, 128), &[address(&mut out)]).expect("no fault");
    assert_eq!(out, [8128; 6]);
}
