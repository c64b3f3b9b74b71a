/* gpubench
kernel = "naive"
grid = ["ceil_div(n, 32)", "ceil_div(m, 8)"]
block = [32, 8]
arguments = ["x", "w", "scale", "c", "m", "n", "k"]
*/

#include <cuda_fp16.h>

// One element a thread, straight from global memory.
__global__ void naive(const __half *__restrict__ x, const unsigned char *__restrict__ w, const __half *__restrict__ scale,
                      float *__restrict__ c, size_t m, size_t n, size_t k) {
  const size_t column = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  const size_t row = blockIdx.y * static_cast<size_t>(blockDim.y) + threadIdx.y;
  if (row >= m || column >= n) return;
  float sum = 0.0f;
  for (size_t i = 0; i < k; i++) {
    const unsigned int byte = w[column * (k / 2) + i / 2];
    const int weight = static_cast<int>(i % 2 == 0 ? byte & 15 : byte >> 4) - 8;
    sum += __half2float(x[row * k + i]) * (weight * __half2float(scale[column * (k / 32) + i / 32]));
  }
  c[row * n + column] = sum;
}
