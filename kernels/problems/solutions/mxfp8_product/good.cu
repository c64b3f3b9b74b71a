/* gpubench
kernel = "tensor_cores"
grid = ["ceil_div(n, 128)", "ceil_div(m, 128)"]
block = 256
arguments = ["a", "a_scale", "b", "b_scale", "c", "m", "n", "k"]
*/

#include <cuda_bf16.h>
#include <mma.h>

using namespace nvcuda;

// A block computes 128 by 128 elements from tiles of 128 by 32 of A and of B, which it converts to
// bfloat16 without rounding. Each of its eight warps has 64 by 32 of them, as four by two
// squares for the tensor cores. The next tiles travel to registers while the current ones are
// multiplied.
constexpr int ROWS = 128, COLUMNS = 128, DEPTH = 32;
// Eight more elements a row spread the rows over the banks of shared memory.
constexpr int PITCH = DEPTH + 8;

// Eight elements of a row and the scale of their block, which is zero for those that lie outside.
// All rows begin at multiples of 32 bytes.
struct Scaled {
  uint2 elements;
  float scale;
};

__device__ inline Scaled eight(const unsigned char *matrix, const unsigned char *scales, size_t row, size_t rows, size_t column,
                               size_t columns) {
  if (row >= rows || column >= columns) return {make_uint2(0, 0), 0.0f};
  const size_t place = row * columns + column;
  const unsigned int scale = scales[place / 32];
  // The exponent of a float has the same bias. 2^-127 is subnormal.
  return {*reinterpret_cast<const uint2 *>(matrix + place), __uint_as_float(scale == 0 ? 0x00400000 : scale << 23)};
}

// A number in E4M3 times a scale, as bfloat16, whose bits are the upper ones of a float. As the
// upper bits of a float, those of E4M3 are too small by the difference of the biases, 2^120.
__device__ inline unsigned int bfloat16(unsigned int e4m3, float scale) {
  const float magnitude = __uint_as_float((e4m3 & 0x7f) << 20) * 0x1p120f * scale;
  return __float_as_uint(magnitude) >> 16 | (e4m3 & 0x80) << 8;
}

__device__ inline unsigned int two(unsigned int e4m3, float scale) {
  return bfloat16(e4m3 & 0xff, scale) | bfloat16(e4m3 >> 8 & 0xff, scale) << 16;
}

__device__ inline uint4 eight_bfloat16(Scaled all) {
  return make_uint4(two(all.elements.x, all.scale), two(all.elements.x >> 16, all.scale), two(all.elements.y, all.scale),
                    two(all.elements.y >> 16, all.scale));
}

__global__ void __launch_bounds__(256)
    tensor_cores(const unsigned char *__restrict__ a, const unsigned char *__restrict__ a_scale, const unsigned char *__restrict__ b,
                 const unsigned char *__restrict__ b_scale, float *__restrict__ c, size_t m, size_t n, size_t k) {
  __shared__ alignas(32) __nv_bfloat16 tile_a[ROWS * PITCH];
  __shared__ alignas(32) __nv_bfloat16 tile_b[COLUMNS * PITCH];
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

  Scaled next_a[2], next_b[2];
#pragma unroll
  for (int i = 0; i < 2; i++) {
    const unsigned int part = thread + 256 * i, row = part / 4, column = part % 4 * 8;
    next_a[i] = eight(a, a_scale, first_row + row, m, column, k);
    next_b[i] = eight(b, b_scale, first_column + row, n, column, k);
  }
  for (size_t start = 0; start < k; start += DEPTH) {
#pragma unroll
    for (int i = 0; i < 2; i++) {
      const unsigned int part = thread + 256 * i, place = part / 4 * PITCH + part % 4 * 8;
      *reinterpret_cast<uint4 *>(tile_a + place) = eight_bfloat16(next_a[i]);
      *reinterpret_cast<uint4 *>(tile_b + place) = eight_bfloat16(next_b[i]);
    }
    __syncthreads();
    if (start + DEPTH < k) {
#pragma unroll
      for (int i = 0; i < 2; i++) {
        const unsigned int part = thread + 256 * i, row = part / 4;
        const size_t column = start + DEPTH + part % 4 * 8;
        next_a[i] = eight(a, a_scale, first_row + row, m, column, k);
        next_b[i] = eight(b, b_scale, first_column + row, n, column, k);
      }
    }
#pragma unroll
    for (int depth = 0; depth < DEPTH; depth += 16) {
      wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> right[2];
#pragma unroll
      for (int j = 0; j < 2; j++) {
        wmma::load_matrix_sync(right[j], tile_b + (warp_column + 16 * j) * PITCH + depth, PITCH);
      }
#pragma unroll
      for (int i = 0; i < 4; i++) {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> left;
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
