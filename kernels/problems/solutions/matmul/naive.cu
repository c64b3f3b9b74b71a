/* gpubench
grid = ["ceil_div(n, 32)", "ceil_div(m, 8)"]
block = [32, 8]
*/
// One element a thread, straight from global memory: every element of A and B is read many times.
__global__ void naive(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, size_t m, size_t n,
                      size_t k) {
  const size_t column = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  const size_t row = blockIdx.y * static_cast<size_t>(blockDim.y) + threadIdx.y;
  if (row >= m || column >= n) return;
  float sum = 0.0f;
  for (size_t i = 0; i < k; i++) sum += a[row * k + i] * b[i * n + column];
  c[row * n + column] = sum;
}
