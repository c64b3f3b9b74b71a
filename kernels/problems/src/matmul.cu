// C = A B with A of m rows and k columns, B of k rows and n columns, all by rows.

// One element a thread, straight from global memory: every element of A and B is read many times.
__global__ void naive(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, size_t m, size_t n,
                      size_t k) {
  const size_t column = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  const size_t row = blockIdx.y * static_cast<size_t>(blockDim.y) + threadIdx.y;
  if (row >= m || column >= n) return;
  float sum = 0.0f;
  for (size_t i = 0; i < k; i++) sum += a[row * k + i] * b[i * n + column];
  c[row * n + column] = sum;
}

// One element a thread, from tiles of A and B that the block reads once and shares. Along a warp x
// varies fastest: its reads of `tile_a` are broadcasts and those of `tile_b` neighbours, so neither
// has bank conflicts.
template <int TILE>
__global__ void __launch_bounds__(TILE *TILE) tiled(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c,
                                                    size_t m, size_t n, size_t k) {
  __shared__ float tile_a[TILE][TILE];
  __shared__ float tile_b[TILE][TILE];
  const unsigned int x = threadIdx.x, y = threadIdx.y;
  const size_t column = blockIdx.x * static_cast<size_t>(TILE) + x;
  const size_t row = blockIdx.y * static_cast<size_t>(TILE) + y;
  float sum = 0.0f;
  for (size_t start = 0; start < k; start += TILE) {
    // Zeros stand in for what lies outside.
    tile_a[y][x] = row < m && start + x < k ? a[row * k + start + x] : 0.0f;
    tile_b[y][x] = start + y < k && column < n ? b[(start + y) * n + column] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < TILE; i++) sum += tile_a[y][i] * tile_b[i][x];
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = sum;
}

// EACH by EACH elements a thread, from tiles of SIDE * EACH rows of A and columns of B: every word
// read from shared memory is used EACH times from a register. A thread's rows and columns lie SIDE
// apart, so that neighbouring threads read and write neighbouring words.
template <int SIDE, int EACH>
__global__ void __launch_bounds__(SIDE *SIDE) register_tiled(const float *__restrict__ a, const float *__restrict__ b,
                                                             float *__restrict__ c, size_t m, size_t n, size_t k) {
  constexpr int TILE = SIDE * EACH;
  __shared__ float tile_a[TILE][SIDE];
  __shared__ float tile_b[SIDE][TILE];
  const unsigned int x = threadIdx.x, y = threadIdx.y;
  const size_t column = blockIdx.x * static_cast<size_t>(TILE) + x;
  const size_t row = blockIdx.y * static_cast<size_t>(TILE) + y;
  float sum[EACH][EACH] = {};
  for (size_t start = 0; start < k; start += SIDE) {
#pragma unroll
    for (int i = 0; i < EACH; i++) {
      const size_t r = row + i * SIDE, q = column + i * SIDE;
      tile_a[y + i * SIDE][x] = r < m && start + x < k ? a[r * k + start + x] : 0.0f;
      tile_b[y][x + i * SIDE] = start + y < k && q < n ? b[(start + y) * n + q] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int depth = 0; depth < SIDE; depth++) {
      float left[EACH], right[EACH];
#pragma unroll
      for (int i = 0; i < EACH; i++) {
        left[i] = tile_a[y + i * SIDE][depth];
        right[i] = tile_b[depth][x + i * SIDE];
      }
#pragma unroll
      for (int i = 0; i < EACH; i++) {
#pragma unroll
        for (int j = 0; j < EACH; j++) sum[i][j] += left[i] * right[j];
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < EACH; i++) {
#pragma unroll
    for (int j = 0; j < EACH; j++) {
      if (row + i * SIDE < m && column + j * SIDE < n) c[(row + i * SIDE) * n + column + j * SIDE] = sum[i][j];
    }
  }
}
