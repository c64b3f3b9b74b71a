constexpr int BINS = 256;

// All threads of the grid count in the same words of global memory.
__global__ void global_atomics(const unsigned char *__restrict__ pixels, unsigned int *__restrict__ bins, size_t n) {
  const size_t stride = gridDim.x * static_cast<size_t>(blockDim.x);
  for (size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; i < n; i += stride) {
    atomicAdd(&bins[pixels[i]], 1u);
  }
}

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
