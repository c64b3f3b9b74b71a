/* gpubench
kernel = "block_a_row"
grid = "rows"
block = 256
arguments = ["x", "q", "scale", "columns"]
*/

// The largest of a number of each thread of a block of 256.
__device__ inline float largest_of_block(float number) {
  __shared__ float found[8];
  for (int apart = 16; apart > 0; apart /= 2) number = fmaxf(number, __shfl_xor_sync(0xffffffff, number, apart));
  if (threadIdx.x % 32 == 0) found[threadIdx.x / 32] = number;
  __syncthreads();
  float largest = found[0];
#pragma unroll
  for (int warp = 1; warp < 8; warp++) largest = fmaxf(largest, found[warp]);
  return largest;
}

__device__ inline signed char quantised(float x, float step) {
  return step == 0.0f ? 0 : static_cast<signed char>(__float2int_rn(x / step));
}

// One row a block, whose second pass finds the row in a cache. Rows begin at multiples of a vector
// only if their length is a multiple of four.
__global__ void __launch_bounds__(256) block_a_row(const float *__restrict__ x, signed char *__restrict__ q,
                                                   float *__restrict__ scale, size_t columns) {
  x += blockIdx.x * columns;
  q += blockIdx.x * columns;
  float largest = 0.0f;
  if (columns % 4 == 0) {
    const float4 *vectors = reinterpret_cast<const float4 *>(x);
    for (size_t i = threadIdx.x; i < columns / 4; i += 256) {
      const float4 four = vectors[i];
      largest = fmaxf(fmaxf(largest, fmaxf(fabsf(four.x), fabsf(four.y))), fmaxf(fabsf(four.z), fabsf(four.w)));
    }
    const float step = largest_of_block(largest) / 127.0f;
    for (size_t i = threadIdx.x; i < columns / 4; i += 256) {
      const float4 four = vectors[i];
      reinterpret_cast<char4 *>(q)[i] =
          make_char4(quantised(four.x, step), quantised(four.y, step), quantised(four.z, step), quantised(four.w, step));
    }
    if (threadIdx.x == 0) scale[blockIdx.x] = step;
  } else {
    for (size_t i = threadIdx.x; i < columns; i += 256) largest = fmaxf(largest, fabsf(x[i]));
    const float step = largest_of_block(largest) / 127.0f;
    for (size_t i = threadIdx.x; i < columns; i += 256) q[i] = quantised(x[i], step);
    if (threadIdx.x == 0) scale[blockIdx.x] = step;
  }
}
