// C = A B' with A of m rows and B of n rows, both with k columns, all by rows.

// The expected product, where it is too large for the CPU: one element a thread, from the last term
// to the first.
__global__ void last_to_first(const signed char *__restrict__ a, const signed char *__restrict__ b, int *__restrict__ c, size_t m,
                              size_t n, size_t k) {
  const size_t column = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  const size_t row = blockIdx.y * static_cast<size_t>(blockDim.y) + threadIdx.y;
  if (row >= m || column >= n) return;
  long long sum = 0;
  for (size_t i = k; i-- > 0;) sum += static_cast<long long>(a[row * k + i]) * b[column * k + i];
  c[row * n + column] = static_cast<int>(sum);
}
