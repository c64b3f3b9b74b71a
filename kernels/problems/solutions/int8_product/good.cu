/* gpubench
kernel = "tensor_cores"
grid = ["ceil_div(n, 128)", "ceil_div(m, 128)"]
block = 256
arguments = ["a", "b", "c", "m", "n", "k"]
*/

#include <mma.h>

using namespace nvcuda;

// A block computes 128 by 128 elements from tiles of 128 by 64 of A and of B. Each of its eight
// warps has 64 by 32 of them, as four by two squares for the tensor cores. The next tiles travel
// to registers while the current ones are multiplied.
constexpr int ROWS = 128, DEPTH = 64;

// Sixteen elements of a row of a matrix, with zeros for those that lie outside. Rows begin at
// multiples of 16 bytes only if their length is a multiple of sixteen.
__device__ inline uint4 sixteen(const signed char *matrix, size_t row, size_t rows, size_t column, size_t columns) {
  if (row >= rows || column >= columns) return make_uint4(0, 0, 0, 0);
  const signed char *from = matrix + row * columns + column;
  if (columns % 16 == 0) return *reinterpret_cast<const uint4 *>(from);
  unsigned int word[4] = {};
#pragma unroll
  for (int i = 0; i < 16; i++) {
    if (column + i < columns) word[i / 4] |= static_cast<unsigned int>(from[i] & 0xff) << (i % 4 * 8);
  }
  return make_uint4(word[0], word[1], word[2], word[3]);
}

__global__ void __launch_bounds__(256) tensor_cores(const signed char *__restrict__ a, const signed char *__restrict__ b,
                                                    int *__restrict__ c, size_t m, size_t n, size_t k) {
  // The squares of 16 by 16 that a warp loads at once are contiguous, so no two of its rows share
  // a bank.
  __shared__ alignas(32) signed char tile_a[DEPTH / 16][ROWS][16];
  __shared__ alignas(32) signed char tile_b[DEPTH / 16][ROWS][16];
  __shared__ alignas(32) int square[8][16 * 16];
  const unsigned int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
  const unsigned int warp_row = warp / 4 * 64, warp_column = warp % 4 * 32;
  const size_t first_row = blockIdx.y * static_cast<size_t>(ROWS), first_column = blockIdx.x * static_cast<size_t>(ROWS);

  wmma::fragment<wmma::accumulator, 16, 16, 16, int> sum[4][2];
#pragma unroll
  for (int i = 0; i < 4; i++) {
#pragma unroll
    for (int j = 0; j < 2; j++) wmma::fill_fragment(sum[i][j], 0);
  }

  uint4 next_a[2], next_b[2];
#pragma unroll
  for (int i = 0; i < 2; i++) {
    const unsigned int part = thread + 256 * i, row = part / 4, column = part % 4 * 16;
    next_a[i] = sixteen(a, first_row + row, m, column, k);
    next_b[i] = sixteen(b, first_column + row, n, column, k);
  }
  for (size_t start = 0; start < k; start += DEPTH) {
#pragma unroll
    for (int i = 0; i < 2; i++) {
      const unsigned int part = thread + 256 * i;
      *reinterpret_cast<uint4 *>(tile_a[part % 4][part / 4]) = next_a[i];
      *reinterpret_cast<uint4 *>(tile_b[part % 4][part / 4]) = next_b[i];
    }
    __syncthreads();
    if (start + DEPTH < k) {
#pragma unroll
      for (int i = 0; i < 2; i++) {
        const unsigned int part = thread + 256 * i, row = part / 4;
        const size_t column = start + DEPTH + part % 4 * 16;
        next_a[i] = sixteen(a, first_row + row, m, column, k);
        next_b[i] = sixteen(b, first_column + row, n, column, k);
      }
    }
#pragma unroll
    for (int depth = 0; depth < DEPTH / 16; depth++) {
      wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> right[2];
#pragma unroll
      for (int j = 0; j < 2; j++) wmma::load_matrix_sync(right[j], tile_b[depth][warp_column + 16 * j], 16);
#pragma unroll
      for (int i = 0; i < 4; i++) {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> left;
        wmma::load_matrix_sync(left, tile_a[depth][warp_row + 16 * i], 16);
#pragma unroll
        for (int j = 0; j < 2; j++) wmma::mma_sync(sum[i][j], left, right[j], sum[i][j]);
      }
    }
    __syncthreads();
  }

  // Through shared memory, because the edges of C may cut a square.
#pragma unroll
  for (int i = 0; i < 4; i++) {
#pragma unroll
    for (int j = 0; j < 2; j++) {
      wmma::store_matrix_sync(square[warp], sum[i][j], 16, wmma::mem_row_major);
      __syncwarp();
      for (unsigned int element = lane; element < 256; element += 32) {
        const size_t row = first_row + warp_row + 16 * i + element / 16;
        const size_t column = first_column + warp_column + 16 * j + element % 16;
        if (row < m && column < n) c[row * n + column] = square[warp][element];
      }
      __syncwarp();
    }
  }
}
