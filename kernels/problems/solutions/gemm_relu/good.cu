/* gpubench
kernel = "tiled"
grid = ["ceil_div(n, 128)", "ceil_div(m, 128)"]
block = 256
arguments = ["a", "b", "bias", "c", "m", "n", "k"]
*/

// A block computes 128 by 128 elements from tiles of 128 by 8 of A and 8 by 128 of B. Each thread
// has eight by eight of them: four rows and four columns in each half of the tile, so that a warp
// reads shared memory as vectors without bank conflicts. The next tiles travel to registers while
// the current ones are multiplied.
constexpr int TILE = 128, DEPTH = 8;

// Four elements of a row of a matrix, with zeros for those that lie outside. Rows begin at
// multiples of 16 bytes only if their length is a multiple of four.
__device__ inline float4 four(const float *matrix, size_t row, size_t rows, size_t column, size_t columns) {
  if (row >= rows || column >= columns) return make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  const float *from = matrix + row * columns + column;
  if (columns % 4 == 0) return *reinterpret_cast<const float4 *>(from);
  return make_float4(from[0], column + 1 < columns ? from[1] : 0.0f, column + 2 < columns ? from[2] : 0.0f,
                     column + 3 < columns ? from[3] : 0.0f);
}

__global__ void __launch_bounds__(256) tiled(const float *__restrict__ a, const float *__restrict__ b, const float *__restrict__ bias,
                                             float *__restrict__ c, size_t m, size_t n, size_t k) {
  // A is transposed. Four more elements a row keep its vectors aligned and spread its rows over the
  // banks.
  __shared__ alignas(16) float tile_a[DEPTH][TILE + 4];
  __shared__ alignas(16) float tile_b[DEPTH][TILE];
  const unsigned int thread = threadIdx.x, x = thread % 16 * 4, y = thread / 16 * 4;
  const size_t first_row = blockIdx.y * static_cast<size_t>(TILE), first_column = blockIdx.x * static_cast<size_t>(TILE);
  const unsigned int row_a = thread / 2, column_a = thread % 2 * 4, row_b = thread / 32, column_b = thread % 32 * 4;

  float sum[8][8] = {};
  float4 next_a = four(a, first_row + row_a, m, column_a, k);
  float4 next_b = four(b, row_b, k, first_column + column_b, n);
  for (size_t start = 0; start < k; start += DEPTH) {
    tile_a[column_a][row_a] = next_a.x;
    tile_a[column_a + 1][row_a] = next_a.y;
    tile_a[column_a + 2][row_a] = next_a.z;
    tile_a[column_a + 3][row_a] = next_a.w;
    *reinterpret_cast<float4 *>(&tile_b[row_b][column_b]) = next_b;
    __syncthreads();
    if (start + DEPTH < k) {
      next_a = four(a, first_row + row_a, m, start + DEPTH + column_a, k);
      next_b = four(b, start + DEPTH + row_b, k, first_column + column_b, n);
    }
#pragma unroll
    for (int depth = 0; depth < DEPTH; depth++) {
      float left[8], right[8];
#pragma unroll
      for (int half = 0; half < 2; half++) {
        const float4 rows = *reinterpret_cast<const float4 *>(&tile_a[depth][y + 64 * half]);
        const float4 columns = *reinterpret_cast<const float4 *>(&tile_b[depth][x + 64 * half]);
        left[4 * half] = rows.x, left[4 * half + 1] = rows.y, left[4 * half + 2] = rows.z, left[4 * half + 3] = rows.w;
        right[4 * half] = columns.x, right[4 * half + 1] = columns.y, right[4 * half + 2] = columns.z, right[4 * half + 3] = columns.w;
      }
#pragma unroll
      for (int i = 0; i < 8; i++) {
#pragma unroll
        for (int j = 0; j < 8; j++) sum[i][j] += left[i] * right[j];
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 8; i++) {
    const size_t row = first_row + y + i % 4 + i / 4 * 64;
#pragma unroll
    for (int j = 0; j < 8; j++) {
      const size_t column = first_column + x + j % 4 + j / 4 * 64;
      if (row < m && column < n) c[row * n + column] = fmaxf(sum[i][j] + bias[column], 0.0f);
    }
  }
}
