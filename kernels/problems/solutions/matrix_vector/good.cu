/* gpubench
kernel = "warp_a_row"
grid = "ceil_div(m, 8)"
block = [32, 8]
arguments = ["a", "x", "y", "m", "k"]
*/

// One row a warp. Rows begin at multiples of 16 bytes only if their length is a multiple of four.
__global__ void __launch_bounds__(256) warp_a_row(const float *__restrict__ a, const float *__restrict__ x, float *__restrict__ y,
                                                  size_t m, size_t k) {
  const size_t row = blockIdx.x * static_cast<size_t>(blockDim.y) + threadIdx.y;
  if (row >= m) return;
  a += row * k;
  float sum = 0.0f;
  if (k % 4 == 0) {
    const float4 *vectors = reinterpret_cast<const float4 *>(a), *factors = reinterpret_cast<const float4 *>(x);
#pragma unroll 4
    for (size_t i = threadIdx.x; i < k / 4; i += 32) {
      const float4 left = vectors[i], right = factors[i];
      sum += left.x * right.x + left.y * right.y + left.z * right.z + left.w * right.w;
    }
  } else {
#pragma unroll 8
    for (size_t i = threadIdx.x; i < k; i += 32) sum += a[i] * x[i];
  }
  for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_xor_sync(0xffffffff, sum, apart);
  if (threadIdx.x == 0) y[row] = sum;
}
