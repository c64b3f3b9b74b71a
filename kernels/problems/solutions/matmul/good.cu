/* gpubench
kernel = "register_tiled<16, 4>"
grid = ["ceil_div(n, 64)", "ceil_div(m, 64)"]
block = [16, 16]
arguments = ["a", "b", "c", "m", "n", "k"]
*/
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
