/* gpubench
kernel = "naive"
grid = ["ceil_div(n, 32)", "ceil_div(m, 8)"]
block = [32, 8]
arguments = ["a", "b", "c", "m", "n", "k"]
*/

// One element a thread, straight from global memory.
__global__ void naive(const signed char *__restrict__ a, const signed char *__restrict__ b, int *__restrict__ c, size_t m, size_t n,
                      size_t k) {
  const size_t column = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  const size_t row = blockIdx.y * static_cast<size_t>(blockDim.y) + threadIdx.y;
  if (row >= m || column >= n) return;
  int sum = 0;
  for (size_t i = 0; i < k; i++) sum += a[row * k + i] * b[column * k + i];
  c[row * n + column] = sum;
}
