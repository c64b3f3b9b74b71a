/* gpubench
[[scratch]]
name = "sums"
bytes = "4 * min(ceil_div(n, 2048), 8 * multiprocessors)"

[[step]]
kernel = "warp_shuffle<256>"
grid = "min(ceil_div(n, 2048), 8 * multiprocessors)"
block = 256
arguments = ["x", "sums", "n"]

[[step]]
kernel = "warp_shuffle<256>"
grid = 1
block = 256
arguments = ["sums", "sum", "min(ceil_div(n, 2048), 8 * multiprocessors)"]
*/
constexpr unsigned int ALL_LANES = 0xffffffffu;
constexpr int WARP = 32;

struct Sum {
  template <class T>
  __device__ static T combine(T a, T b) { return a + b; }
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

// The sum of what this thread's block is responsible for, as far as this thread adds it up:
// elements a whole grid apart, so that the loads of a warp are neighbours.
__device__ inline float grid_stride_sum(const float *__restrict__ x, size_t n) {
  const size_t stride = gridDim.x * static_cast<size_t>(blockDim.x);
  float sum = 0.0f;
  for (size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; i < n; i += stride) sum += x[i];
  return sum;
}

// One sum a block, through registers: shuffles within the warps, shared memory for one word of
// each.
template <int THREADS>
__global__ void __launch_bounds__(THREADS) warp_shuffle(const float *__restrict__ x, float *__restrict__ sums, size_t n) {
  const float sum = block_reduce<Sum, THREADS>(grid_stride_sum(x, n));
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}
