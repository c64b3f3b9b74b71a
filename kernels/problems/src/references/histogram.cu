#include "../device/random.cuh"

// Pixels of a dark image: the bitwise and of two random bytes. Half of the pixels fall into an
// eighth of the bins, the first of them ten times more often than evenly.
__global__ void dark_image(unsigned char *pixels, size_t n, unsigned long long seed) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i >= n) return;
  const unsigned long long bits = random_bits(seed, i);
  pixels[i] = static_cast<unsigned char>(bits & bits >> 8);
}

// The expected counts, where the pixels are too many for the CPU: a block for each bin looks at all
// pixels, and counts without atomic operations.
__global__ void __launch_bounds__(256) count_one_value(const unsigned char *__restrict__ pixels, unsigned int *__restrict__ bins,
                                                       size_t n) {
  __shared__ unsigned int counts[256];
  unsigned int count = 0;
  for (size_t i = threadIdx.x; i < n; i += 256) count += pixels[i] == blockIdx.x;
  counts[threadIdx.x] = count;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int other = 1; other < 256; other++) count += counts[other];
  bins[blockIdx.x] = count;
}
