/* gpubench
[[scratch]]
name = "sums"
bytes = "4 * ceil_div(n, 256)"

[[step]]
kernel = "add_tiles"
grid = "ceil_div(n, 256)"
block = 256
arguments = ["x", "sums", "n"]

[[step]]
kernel = "scan_sums"
grid = 1
block = 1
arguments = ["sums", "ceil_div(n, 256)"]

[[step]]
kernel = "scan_tiles"
grid = "ceil_div(n, 256)"
block = 256
arguments = ["x", "sums", "y", "n"]
*/
// The sum of each tile of 256 elements.
__global__ void add_tiles(const float *x, float *sums, size_t n) {
  __shared__ float partial[256];
  const size_t i = blockIdx.x * size_t(256) + threadIdx.x;
  partial[threadIdx.x] = i < n ? x[i] : 0.0f;
  for (int half = 128; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = partial[0];
}

// What is in front of each tile, by one thread.
__global__ void scan_sums(float *sums, size_t tiles) {
  float before = 0.0f;
  for (size_t tile = 0; tile < tiles; tile++) {
    const float sum = sums[tile];
    sums[tile] = before;
    before += sum;
  }
}

// Prefix sums within a tile in eight steps, each twice as far as the one before.
__global__ void scan_tiles(const float *x, const float *sums, float *y, size_t n) {
  __shared__ float scanned[256];
  const size_t i = blockIdx.x * size_t(256) + threadIdx.x;
  scanned[threadIdx.x] = i < n ? x[i] : 0.0f;
  for (int distance = 1; distance < 256; distance *= 2) {
    __syncthreads();
    const float before = threadIdx.x >= distance ? scanned[threadIdx.x - distance] : 0.0f;
    __syncthreads();
    scanned[threadIdx.x] += before;
  }
  if (i < n) y[i] = sums[blockIdx.x] + scanned[threadIdx.x];
}
