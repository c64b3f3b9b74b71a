/* gpubench
kernel = "naive"
grid = ["ceil_div(n, 32)", "ceil_div(m, 8)"]
block = [32, 8]
arguments = ["a", "b", "c", "m", "n", "k"]
*/

#include <cuda_bf16.h>

// One element a thread, straight from global memory.
__global__ void naive(const __nv_bfloat16 *__restrict__ a, const __nv_bfloat16 *__restrict__ b, float *__restrict__ c, size_t m, size_t n, size_t k) {
  const size_t column = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  const size_t row = blockIdx.y * static_cast<size_t>(blockDim.y) + threadIdx.y;
  if (row >= m || column >= n) return;
  float sum = 0.0f;
  for (size_t i = 0; i < k; i++) sum += __bfloat162float(a[row * k + i]) * __bfloat162float(b[i * n + column]);
  c[row * n + column] = sum;
}
