/* gpubench
kernel = "tensor_cores"
grid = ["ceil_div(n, 128)", "ceil_div(m, 128)"]
block = 256
arguments = ["x", "w", "scale", "c", "m", "n", "k"]
*/

#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

// A block computes 128 by 128 elements from tiles of 128 by 32 of A and of B, which it converts to
// half precision without rounding. Each of its eight warps has 64 by 32 of them, as four by two
// squares for the tensor cores. The next tiles travel to registers while the current ones are
// multiplied.
constexpr int ROWS = 128, COLUMNS = 128, DEPTH = 32;
// Eight more elements a row spread the rows over the banks of shared memory.
constexpr int PITCH = DEPTH + 8;

// Eight elements of a row of X, with zeros for those that lie outside. All rows begin at multiples
// of 64 bytes.
__device__ inline uint4 eight_elements(const __half *x, size_t row, size_t rows, size_t column, size_t columns) {
  if (row >= rows || column >= columns) return make_uint4(0, 0, 0, 0);
  return *reinterpret_cast<const uint4 *>(x + row * columns + column);
}

// Eight weights of a row of W and their scale.
struct Weights {
  unsigned int packed;
  __half scale;
};

__device__ inline Weights eight_weights(const unsigned char *w, const __half *scale, size_t row, size_t rows, size_t column,
                                        size_t columns) {
  if (row >= rows || column >= columns) return {0, __float2half(0.0f)};
  return {*reinterpret_cast<const unsigned int *>(w + (row * columns + column) / 2), scale[(row * columns + column) / 32]};
}

// Two weights of four bits, as half precision. In a number from 1024 to 2047, the last bits count
// units.
__device__ inline unsigned int two_halves(unsigned int packed, __half scale) {
  const unsigned int moved = 0x64006400 | packed & 15 | (packed & 0xf0) << 12;
  const __half2 weights = __hsub2(*reinterpret_cast<const __half2 *>(&moved), __float2half2_rn(1032.0f));
  const __half2 scaled = __hmul2(weights, __half2half2(scale));
  return *reinterpret_cast<const unsigned int *>(&scaled);
}

__device__ inline uint4 eight_halves(Weights weights) {
  return make_uint4(two_halves(weights.packed, weights.scale), two_halves(weights.packed >> 8, weights.scale),
                    two_halves(weights.packed >> 16, weights.scale), two_halves(weights.packed >> 24, weights.scale));
}

__global__ void __launch_bounds__(256)
    tensor_cores(const __half *__restrict__ x, const unsigned char *__restrict__ w, const __half *__restrict__ scale, float *__restrict__ c, size_t m, size_t n, size_t k) {
  __shared__ alignas(32) __half tile_a[ROWS * PITCH];
  __shared__ alignas(32) __half tile_b[COLUMNS * PITCH];
  __shared__ alignas(32) float square[8][16 * 16];
  const unsigned int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
  const unsigned int warp_row = warp / 4 * 64, warp_column = warp % 4 * 32;
  const size_t first_row = blockIdx.y * static_cast<size_t>(ROWS), first_column = blockIdx.x * static_cast<size_t>(COLUMNS);

  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[4][2];
#pragma unroll
  for (int i = 0; i < 4; i++) {
#pragma unroll
    for (int j = 0; j < 2; j++) wmma::fill_fragment(sum[i][j], 0.0f);
  }

  uint4 next_a[2];
  Weights next_b[2];
#pragma unroll
  for (int i = 0; i < 2; i++) {
    const unsigned int part = thread + 256 * i, row = part / 4, column = part % 4 * 8;
    next_a[i] = eight_elements(x, first_row + row, m, column, k);
    next_b[i] = eight_weights(w, scale, first_column + row, n, column, k);
  }
  for (size_t start = 0; start < k; start += DEPTH) {
#pragma unroll
    for (int i = 0; i < 2; i++) {
      const unsigned int part = thread + 256 * i, place = part / 4 * PITCH + part % 4 * 8;
      *reinterpret_cast<uint4 *>(tile_a + place) = next_a[i];
      *reinterpret_cast<uint4 *>(tile_b + place) = eight_halves(next_b[i]);
    }
    __syncthreads();
    if (start + DEPTH < k) {
#pragma unroll
      for (int i = 0; i < 2; i++) {
        const unsigned int part = thread + 256 * i, row = part / 4;
        const size_t column = start + DEPTH + part % 4 * 8;
        next_a[i] = eight_elements(x, first_row + row, m, column, k);
        next_b[i] = eight_weights(w, scale, first_column + row, n, column, k);
      }
    }
#pragma unroll
    for (int depth = 0; depth < DEPTH; depth += 16) {
      wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> right[2];
#pragma unroll
      for (int j = 0; j < 2; j++) {
        wmma::load_matrix_sync(right[j], tile_b + (warp_column + 16 * j) * PITCH + depth, PITCH);
      }
#pragma unroll
      for (int i = 0; i < 4; i++) {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> left;
        wmma::load_matrix_sync(left, tile_a + (warp_row + 16 * i) * PITCH + depth, PITCH);
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
