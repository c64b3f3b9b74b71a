//! CUDA's guarantees for barriers, warps and shared memory.

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
fn extern_shared_arrays_share_one_address_whatever_their_namespace() {
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
    let shape = requesting(line(6, 128), 4);
    launch(&pool(2), kernel(text, "sum"), &shape, &[address(&mut out)]).expect("no fault");
    assert_eq!(out, [8128; 6]);
}

#[test]
fn shuffles_read_the_same_lanes_as_in_cuda() {
    let text = r#"
        __global__ void shuffle(int *out) {
            int lane = threadIdx.x % 32, v = 100 + lane;
            int *mine = out + threadIdx.x * 8;
            mine[0] = __shfl_sync(~0u, v, 5);
            mine[1] = __shfl_up_sync(~0u, v, 3);
            mine[2] = __shfl_down_sync(~0u, v, 3);
            mine[3] = __shfl_xor_sync(~0u, v, 17);
            mine[4] = __shfl_sync(~0u, v, 9, 8);
            mine[5] = __shfl_up_sync(~0u, v, 3, 8);
            mine[6] = __shfl_down_sync(~0u, v, 3, 8);
            mine[7] = int(__shfl_xor_sync(~0u, 0.5 * v, 1, 4) * 2);
        }
    "#;
    for pool in [pool(1), permuted(3)] {
        let mut out = vec![0i32; 64 * 8];
        launch(&pool, kernel(text, "shuffle"), &line(1, 64), &[address(&mut out)]).expect("no fault");
        for (thread, got) in out.chunks(8).enumerate() {
            let lane = thread as i32 % 32;
            let (place, segment) = (lane % 8, lane / 8 * 8);
            let expected = [
                5,
                if lane < 3 { lane } else { lane - 3 },
                if lane + 3 > 31 { lane } else { lane + 3 },
                lane ^ 17,
                segment + 1,
                if place < 3 { lane } else { lane - 3 },
                if place + 3 > 7 { lane } else { lane + 3 },
                lane ^ 1,
            ];
            assert_eq!(got, expected.map(|source| 100 + source), "thread {thread}");
        }
    }
}

#[test]
fn votes_matches_and_reductions_cover_their_masks() {
    let text = r#"
        __global__ void vote(unsigned *out) {
            unsigned lane = threadIdx.x % 32;
            unsigned *mine = out + threadIdx.x * 8;
            mine[0] = __ballot_sync(~0u, lane % 3 == 0);
            mine[1] = __any_sync(~0u, lane == 31) + 2 * __all_sync(~0u, lane < 31);
            mine[2] = __match_any_sync(~0u, lane / 4);
            int same; mine[3] = __match_all_sync(~0u, 7.5f, &same) + same;
            mine[4] = __reduce_add_sync(~0u, lane);
            mine[5] = unsigned(__reduce_min_sync(~0u, int(lane) - 16));
            if (lane < 16) mine[6] = __ballot_sync(0xffff, lane & 1); else mine[6] = __activemask();
            __syncwarp();
            mine[7] = __reduce_xor_sync(~0u, 1u << lane);
        }
    "#;
    let mut out = vec![0u32; 64 * 8];
    launch(&pool(1), kernel(text, "vote"), &line(1, 64), &[address(&mut out)]).expect("no fault");
    for (thread, got) in out.chunks(8).enumerate() {
        let lane = thread as u32 % 32;
        let thirds = (0..32)
            .filter(|lane| lane % 3 == 0)
            .fold(0, |mask, lane| mask | 1u32 << lane);
        let half = if lane < 16 { 0xaaaa } else { 0xffff_0000 };
        let expected = [
            thirds,
            1,
            0xf << (lane / 4 * 4),
            0,
            496,
            (-16i32) as u32,
            half,
            u32::MAX,
        ];
        assert_eq!(got, expected, "thread {thread}");
    }
}

#[test]
fn block_votes_count_every_thread() {
    let text = r#"
        __global__ void vote(int *out) {
            int count = __syncthreads_count(threadIdx.x % 5 == 0);
            int all = __syncthreads_and(threadIdx.x < 100), any = __syncthreads_or(threadIdx.x == 99);
            out[threadIdx.x] = count * 100 + all * 10 + any;
        }
    "#;
    let mut out = [0; 100];
    launch(&pool(1), kernel(text, "vote"), &line(1, 100), &[address(&mut out)]).expect("no fault");
    assert_eq!(out, [2011; 100]);
}

#[test]
fn a_missing_barrier_fails_in_some_order() {
    let text = r#"
        __global__ void racy(int *out) {
            __shared__ int tile[64];
            tile[threadIdx.x] = -1;
            __syncthreads();
            tile[threadIdx.x] = threadIdx.x;
            out[threadIdx.x] = tile[threadIdx.x / 2];
        }
    "#;
    let kernel = kernel(text, "racy");
    let right = |pool: &Pool| {
        let mut out = [0; 64];
        launch(pool, kernel, &line(1, 64), &[address(&mut out)]).expect("no fault");
        out.iter()
            .enumerate()
            .all(|(thread, &value)| value as usize == thread / 2)
    };
    assert!(right(&pool(1)), "the natural order hides it");
    assert!((0..4).any(|seed| !right(&permuted(seed))), "no order shows it");
}

#[test]
fn exited_threads_take_no_part_in_warp_operations() {
    let text = r#"
        __global__ void leave(int *out) {
            if (threadIdx.x % 32 >= 20) return;
            int v = threadIdx.x % 32;
            for (int delta = 16; delta > 0; delta /= 2) v += __shfl_xor_sync(0xfffff, v, delta) * (delta < 4);
            out[threadIdx.x] = v;
        }
    "#;
    let mut out = vec![-1; 64];
    launch(&pool(1), kernel(text, "leave"), &line(1, 64), &[address(&mut out)]).expect("no fault");
    for (thread, &value) in out.iter().enumerate() {
        let lane = thread % 32;
        let expected = if lane >= 20 { -1 } else { (lane / 4 * 16 + 6) as i32 };
        assert_eq!(value, expected, "thread {thread}");
    }
}

/// The last step of many published reductions: one lane per warp shuffles through all 32 lanes, and
/// reads lanes that take no part.
#[test]
fn a_reduction_may_shuffle_from_lanes_that_take_no_part() {
    let text = r#"
        __device__ float warp_sum(unsigned mask, float v) {
            for (int offset = warpSize / 2; offset > 0; offset /= 2) v += __shfl_down_sync(mask, v, offset);
            return v;
        }
        __global__ void sum(const float *in, float *out) {
            __shared__ float partial[32];
            const unsigned tid = threadIdx.x;
            float v = warp_sum(0xffffffffu, in[blockIdx.x * blockDim.x + tid]);
            if (tid % warpSize == 0) partial[tid / warpSize] = v;
            __syncthreads();
            const unsigned warps = blockDim.x / warpSize, mask = __ballot_sync(0xffffffffu, tid < warps);
            if (tid < warps) v = warp_sum(mask, partial[tid]);
            if (tid == 0) out[blockIdx.x] = v;
        }
    "#;
    for pool in [pool(1), permuted(3)] {
        let (mut from, mut out) = (vec![1.0_f32; 512], vec![0.0_f32; 2]);
        let arguments = [address(&mut from), address(&mut out)];
        launch(&pool, kernel(text, "sum"), &line(2, 256), &arguments).expect("no fault");
        assert_eq!(out, [256.0, 256.0]);
    }
}

/// In natural order on one thread the blocks are right; on two threads they may be wrong by chance.
#[test]
fn blocks_that_depend_on_order_fail_the_same_way_for_the_same_seed() {
    let text = "__global__ void last(int *out, int *ticket) {
        if (threadIdx.x == 0) { *out = blockIdx.x; ticket[atomicAdd(ticket + 64, 1)] = blockIdx.x; }
    }";
    let kernel = kernel(text, "last");
    let ran = |pool: &Pool| {
        let (mut last, mut ticket) = ([-1], [0; 65]);
        launch(pool, kernel, &line(64, 32), &[address(&mut last), address(&mut ticket)]).expect("no fault");
        (last[0], ticket)
    };
    assert_eq!(ran(&pool(1)).0, 63);
    for seed in 1..4 {
        let (last, ticket) = ran(&permuted(seed));
        assert_ne!(last, 63);
        let several = Pool::new(NonZeroUsize::new(3).expect("not zero"), ScheduleSeed::Permuted(seed));
        for _ in 0..20 {
            assert_eq!(ran(&several), (last, ticket), "schedule {seed}");
        }
    }
}

#[test]
fn an_address_belongs_to_one_memory() {
    let text = "
        __constant__ int fixed[4];
        __device__ int variable;
        __global__ void k(int *out, const int *in) {
            __shared__ int tile[64]; extern __shared__ int dynamic[]; int own[2] = {int(threadIdx.x), 1};
            const void *const all[] = {in, &variable, tile + 5, dynamic + 3, own + 1, fixed + 2};
            tile[threadIdx.x] = own[threadIdx.x % 2]; __syncthreads();
            if (threadIdx.x == 33) for (int i = 0; i < 6; i++)
                out[i] = __isGlobal(all[i]) + 2 * __isShared(all[i]) + 4 * __isLocal(all[i]) + 8 * __isConstant(all[i]);
        }";
    let (mut out, mut input) = ([0_u32; 6], [0_u32; 4]);
    let shape = requesting(line(2, 64), 64);
    launch(
        &pool(2),
        kernel(text, "k"),
        &shape,
        &[address(&mut out), address(&mut input)],
    )
    .expect("no fault");
    assert_eq!(out, [1, 1, 2, 2, 4, 8]);
}
