/* gpubench
kernel = "tensor_cores"
grid = ["ceil_div(n, 128)", "ceil_div(m, 128)"]
block = 256
arguments = ["a", "b", "c", "m", "n", "k"]
*/

#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

// A block computes 128 by 128 elements from tiles of 128 by 32 of A and 32 by 128 of B. Each of its
// eight warps has 64 by 32 of them, as four by two squares for the tensor cores. The next tiles
// travel to registers while the current ones are multiplied.
constexpr int ROWS = 128, COLUMNS = 128, DEPTH = 32;
// Eight more elements a row spread the rows over the banks of shared memory.
constexpr int A_PITCH = DEPTH + 8, B_PITCH = COLUMNS + 8;

// Eight elements of a row of a matrix, with zeros for those that lie outside. Rows begin at
// multiples of 16 bytes only if their length is a multiple of eight elements.
__device__ inline uint4 eight(const unsigned short *matrix, size_t row, size_t rows, size_t column, size_t columns) {
  if (row >= rows || column >= columns) return make_uint4(0, 0, 0, 0);
  const unsigned short *from = matrix + row * columns + column;
  if (columns % 8 == 0) return *reinterpret_cast<const uint4 *>(from);
  unsigned int word[4];
#pragma unroll
  for (int i = 0; i < 4; i++) {
    const unsigned int low = column + 2 * i < columns ? from[2 * i] : 0;
    const unsigned int high = column + 2 * i + 1 < columns ? from[2 * i + 1] : 0;
    word[i] = high << 16 | low;
  }
  return make_uint4(word[0], word[1], word[2], word[3]);
}

__global__ void __launch_bounds__(256)
    tensor_cores(const __half *__restrict__ a, const __half *__restrict__ b, float *__restrict__ c, size_t m, size_t n, size_t k) {
  __shared__ alignas(32) __half tile_a[ROWS * A_PITCH];
  __shared__ alignas(32) __half tile_b[DEPTH * B_PITCH];
  __shared__ alignas(32) float square[8][16 * 16];
  const unsigned int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
  const unsigned int warp_row = warp / 4 * 64, warp_column = warp % 4 * 32;
  const size_t first_row = blockIdx.y * static_cast<size_t>(ROWS), first_column = blockIdx.x * static_cast<size_t>(COLUMNS);
  const unsigned short *bits_a = reinterpret_cast<const unsigned short *>(a);
  const unsigned short *bits_b = reinterpret_cast<const unsigned short *>(b);

  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[4][2];
#pragma unroll
  for (int i = 0; i < 4; i++) {
#pragma unroll
    for (int j = 0; j < 2; j++) wmma::fill_fragment(sum[i][j], 0.0f);
  }

  uint4 next_a[2], next_b[2];
#pragma unroll
  for (int i = 0; i < 2; i++) {
    const unsigned int part = thread + 256 * i;
    next_a[i] = eight(bits_a, first_row + part / 4, m, part % 4 * 8, k);
    next_b[i] = eight(bits_b, part / 16, k, first_column + part % 16 * 8, n);
  }
  for (size_t start = 0; start < k; start += DEPTH) {
#pragma unroll
    for (int i = 0; i < 2; i++) {
      const unsigned int part = thread + 256 * i;
      *reinterpret_cast<uint4 *>(tile_a + part / 4 * A_PITCH + part % 4 * 8) = next_a[i];
      *reinterpret_cast<uint4 *>(tile_b + part / 16 * B_PITCH + part % 16 * 8) = next_b[i];
    }
    __syncthreads();
    if (start + DEPTH < k) {
#pragma unroll
      for (int i = 0; i < 2; i++) {
        const unsigned int part = thread + 256 * i;
        next_a[i] = eight(bits_a, first_row + part / 4, m, start + DEPTH + part % 4 * 8, k);
        next_b[i] = eight(bits_b, start + DEPTH + part / 16, k, first_column + part % 16 * 8, n);
      }
    }
#pragma unroll
    for (int depth = 0; depth < DEPTH; depth += 16) {
      wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> right[2];
#pragma unroll
      for (int j = 0; j < 2; j++) {
        wmma::load_matrix_sync(right[j], tile_b + depth * B_PITCH + warp_column + 16 * j, B_PITCH);
      }
#pragma unroll
      for (int i = 0; i < 4; i++) {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> left;
        wmma::load_matrix_sync(left, tile_a + (warp_row + 16 * i) * A_PITCH + depth, A_PITCH);
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
