/* gpubench
kernel = "layer_norm<128>"
grid = "rows"
block = 128
arguments = ["x", "gain", "bias", "y", "columns"]
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

// One row a block, read three times: for the mean, for the variance around it, and for the result.
// Taking the variance as the mean of squares less the square of the mean would save a pass and lose
// digits wherever a row's mean is far from zero.
template <int THREADS>
__global__ void __launch_bounds__(THREADS) layer_norm(const float *__restrict__ x, const float *__restrict__ gain,
                                                      const float *__restrict__ bias, float *__restrict__ y, size_t columns) {
  x += blockIdx.x * columns;
  y += blockIdx.x * columns;
  float sum = 0.0f;
  for (size_t i = threadIdx.x; i < columns; i += THREADS) sum += x[i];
  const float mean = block_reduce<Sum, THREADS>(sum) / columns;
  float squares = 0.0f;
  for (size_t i = threadIdx.x; i < columns; i += THREADS) {
    const float difference = x[i] - mean;
    squares += difference * difference;
  }
  const float variance = block_reduce<Sum, THREADS>(squares) / columns;
  const float scale = rsqrtf(variance + 1e-4f);
  for (size_t i = threadIdx.x; i < columns; i += THREADS) y[i] = (x[i] - mean) * scale * gain[i] + bias[i];
}
