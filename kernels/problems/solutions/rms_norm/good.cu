/* gpubench
kernel = "block_a_row"
grid = "rows"
block = 256
arguments = ["x", "gain", "y", "columns"]
*/

// The sum of a number of each thread of a block of 256.
__device__ inline float sum_of_block(float number) {
  __shared__ float sums[8];
  for (int apart = 16; apart > 0; apart /= 2) number += __shfl_xor_sync(0xffffffff, number, apart);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = number;
  __syncthreads();
  float sum = 0.0f;
#pragma unroll
  for (int warp = 0; warp < 8; warp++) sum += sums[warp];
  return sum;
}

// One row a block, whose second pass finds the row in a cache. Rows begin at multiples of 16 bytes
// only if their length is a multiple of four.
__global__ void __launch_bounds__(256) block_a_row(const float *__restrict__ x, const float *__restrict__ gain, float *__restrict__ y,
                                                   size_t columns) {
  x += blockIdx.x * columns;
  y += blockIdx.x * columns;
  float sum = 0.0f;
  if (columns % 4 == 0) {
    const float4 *vectors = reinterpret_cast<const float4 *>(x), *gains = reinterpret_cast<const float4 *>(gain);
    for (size_t i = threadIdx.x; i < columns / 4; i += 256) {
      const float4 four = vectors[i];
      sum += four.x * four.x + four.y * four.y + four.z * four.z + four.w * four.w;
    }
    const float scale = 1.0f / sqrtf(sum_of_block(sum) / columns + 1e-5f);
    for (size_t i = threadIdx.x; i < columns / 4; i += 256) {
      const float4 four = vectors[i], by = gains[i];
      reinterpret_cast<float4 *>(y)[i] =
          make_float4(four.x * scale * by.x, four.y * scale * by.y, four.z * scale * by.z, four.w * scale * by.w);
    }
  } else {
    for (size_t i = threadIdx.x; i < columns; i += 256) sum += x[i] * x[i];
    const float scale = 1.0f / sqrtf(sum_of_block(sum) / columns + 1e-5f);
    for (size_t i = threadIdx.x; i < columns; i += 256) y[i] = x[i] * scale * gain[i];
  }
}
