/* gpubench
[[scratch]]
name = "sums"
bytes = "4 * min(ceil_div(n, 2048), 8 * multiprocessors)"

[[step]]
kernel = "shared_memory<256>"
grid = "min(ceil_div(n, 2048), 8 * multiprocessors)"
block = 256
arguments = ["x", "sums", "n"]

[[step]]
kernel = "shared_memory<256>"
grid = 1
block = 256
arguments = ["sums", "sum", "min(ceil_div(n, 2048), 8 * multiprocessors)"]
*/
// The sum of what this thread's block is responsible for, as far as this thread adds it up:
// elements a whole grid apart, so that the loads of a warp are neighbours.
__device__ inline float grid_stride_sum(const float *__restrict__ x, size_t n) {
  const size_t stride = gridDim.x * static_cast<size_t>(blockDim.x);
  float sum = 0.0f;
  for (size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; i < n; i += stride) sum += x[i];
  return sum;
}

// One sum a block, through a tree in shared memory. The threads that add are always the first ones,
// so warps fall idle whole.
template <int THREADS>
__global__ void __launch_bounds__(THREADS) shared_memory(const float *__restrict__ x, float *__restrict__ sums, size_t n) {
  __shared__ float partial[THREADS];
  partial[threadIdx.x] = grid_stride_sum(x, n);
  __syncthreads();
#pragma unroll
  for (int half = THREADS / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = partial[0];
}
