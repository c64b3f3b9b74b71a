/* gpubench
[[step]]
memset = "bins"
value = 0

[[step]]
kernel = "global_atomics"
grid = "min(ceil_div(n, 256), 8 * multiprocessors)"
block = 256
arguments = ["pixels", "bins", "n"]
*/
// All threads of the grid count in the same words of global memory.
__global__ void global_atomics(const unsigned char *__restrict__ pixels, unsigned int *__restrict__ bins, size_t n) {
  const size_t stride = gridDim.x * static_cast<size_t>(blockDim.x);
  for (size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; i < n; i += stride) {
    atomicAdd(&bins[pixels[i]], 1u);
  }
}
