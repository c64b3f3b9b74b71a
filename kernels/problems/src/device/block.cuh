// Reductions and scans over the threads of a warp and of a block.
#pragma once

constexpr unsigned int ALL_LANES = 0xffffffffu;
constexpr int WARP = 32;

struct Sum {
  template <class T>
  __device__ static T combine(T a, T b) { return a + b; }
};

struct Largest {
  template <class T>
  __device__ static T combine(T a, T b) { return a > b ? a : b; }
};

// The values of each group of GROUP neighbouring lanes combined, in every lane of it. All lanes of
// the warp must call it.
template <class Operation, int GROUP, class T>
__device__ T group_reduce(T value) {
#pragma unroll
  for (int distance = GROUP / 2; distance > 0; distance /= 2) {
    value = Operation::combine(value, __shfl_xor_sync(ALL_LANES, value, distance));
  }
  return value;
}

// The values of a warp combined, in every lane.
template <class Operation, class T>
__device__ T warp_reduce(T value) {
  return group_reduce<Operation, WARP>(value);
}

// The values of a block of THREADS threads combined, in every thread. All threads must call it.
template <class Operation, int THREADS, class T>
__device__ T block_reduce(T value) {
  static_assert(THREADS % WARP == 0, "a block is whole warps");
  constexpr int WARPS = THREADS / WARP;
  __shared__ T of_warp[WARPS];
  value = warp_reduce<Operation>(value);
  if (threadIdx.x % WARP == 0) of_warp[threadIdx.x / WARP] = value;
  __syncthreads();
  // Every thread reads the same word, which shared memory broadcasts.
  T all = of_warp[0];
#pragma unroll
  for (int warp = 1; warp < WARPS; warp++) all = Operation::combine(all, of_warp[warp]);
  // Another call may follow and write the same words.
  __syncthreads();
  return all;
}

// The sum of the values of this lane and the lanes before it.
template <class T>
__device__ T warp_inclusive_sum(T value) {
  const int lane = threadIdx.x % WARP;
#pragma unroll
  for (int distance = 1; distance < WARP; distance *= 2) {
    const T before = __shfl_up_sync(ALL_LANES, value, distance);
    if (lane >= distance) value += before;
  }
  return value;
}

// The sum of the values of this thread and the threads before it; `total` is that of the whole
// block. All threads must call it.
template <int THREADS, class T>
__device__ T block_inclusive_sum(T value, T *total) {
  static_assert(THREADS % WARP == 0, "a block is whole warps");
  constexpr int WARPS = THREADS / WARP;
  __shared__ T of_warp[WARPS];
  const int warp = threadIdx.x / WARP;
  value = warp_inclusive_sum(value);
  if (threadIdx.x % WARP == WARP - 1) of_warp[warp] = value;
  __syncthreads();
  T before = 0, all = 0;
#pragma unroll
  for (int other = 0; other < WARPS; other++) {
    if (other < warp) before += of_warp[other];
    all += of_warp[other];
  }
  __syncthreads();
  *total = all;
  return before + value;
}
