// C = max(0, A B + bias) with A of m rows and k columns, B of k rows and n columns, all by rows.

// The expected matrix, where it is too large for the CPU: one element a thread, summed in double
// from the last term to the first.
__global__ void in_double(const float *__restrict__ a, const float *__restrict__ b, const float *__restrict__ bias,
                          float *__restrict__ c, size_t m, size_t n, size_t k) {
  const size_t column = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  const size_t row = blockIdx.y * static_cast<size_t>(blockDim.y) + threadIdx.y;
  if (row >= m || column >= n) return;
  double sum = bias[column];
  for (size_t i = k; i-- > 0;) sum += static_cast<double>(a[row * k + i]) * b[i * n + column];
  c[row * n + column] = sum > 0.0 ? static_cast<float>(sum) : 0.0f;
}
