/* gpubench
kernel = "naive"
grid = "ceil_div(m, 128)"
block = 128
arguments = ["a", "x", "y", "m", "k"]
*/

// One row a thread.
__global__ void naive(const float *__restrict__ a, const float *__restrict__ x, float *__restrict__ y, size_t m, size_t k) {
  const size_t row = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (row >= m) return;
  float sum = 0.0f;
  for (size_t i = 0; i < k; i++) sum += a[row * k + i] * x[i];
  y[row] = sum;
}
