/* gpubench
kernel = "three_passes<128>"
grid = "rows"
block = 128
arguments = ["x", "y", "columns"]
*/
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

// One row a block, read three times: for its largest element, for the sum of exponentials, and for
// the result. The second and third time the row is in the cache.
template <int THREADS>
__global__ void __launch_bounds__(THREADS) three_passes(const float *__restrict__ x, float *__restrict__ y, size_t columns) {
  x += blockIdx.x * columns;
  y += blockIdx.x * columns;
  float largest = x[0];
  for (size_t i = threadIdx.x; i < columns; i += THREADS) largest = fmaxf(largest, x[i]);
  largest = block_reduce<Largest, THREADS>(largest);
  float sum = 0.0f;
  for (size_t i = threadIdx.x; i < columns; i += THREADS) sum += expf(x[i] - largest);
  sum = block_reduce<Sum, THREADS>(sum);
  for (size_t i = threadIdx.x; i < columns; i += THREADS) y[i] = expf(x[i] - largest) / sum;
}
