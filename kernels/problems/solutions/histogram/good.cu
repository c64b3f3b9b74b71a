/* gpubench
[[step]]
memset = "bins"
value = 0

[[step]]
kernel = "privatised"
grid = "min(ceil_div(n, 256), 8 * multiprocessors)"
block = 256
arguments = ["pixels", "bins", "n"]
*/
constexpr int BINS = 256;

// Every block counts in a histogram of its own, in shared memory, and adds it to the result at its
// end.
__global__ void privatised(const unsigned char *__restrict__ pixels, unsigned int *__restrict__ bins, size_t n) {
  __shared__ unsigned int own[BINS];
  for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x) own[bin] = 0;
  __syncthreads();
  const size_t stride = gridDim.x * static_cast<size_t>(blockDim.x);
  for (size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; i < n; i += stride) {
    atomicAdd(&own[pixels[i]], 1u);
  }
  __syncthreads();
  for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x) {
    if (own[bin] != 0) atomicAdd(&bins[bin], own[bin]);
  }
}
