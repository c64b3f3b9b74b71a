// C = A B with A of m rows and k columns, B of k rows and n columns, all by rows.

// The number that 16 bits of bfloat16 stand for: the upper half of a float. All are whole here.
__device__ inline int whole(unsigned short bits) { return static_cast<int>(__uint_as_float(static_cast<unsigned int>(bits) << 16)); }

// The expected product, where it is too large for the CPU: one element a thread, in integers.
__global__ void in_integers(const unsigned short *__restrict__ a, const unsigned short *__restrict__ b, float *__restrict__ c, size_t m,
                            size_t n, size_t k) {
  const size_t column = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  const size_t row = blockIdx.y * static_cast<size_t>(blockDim.y) + threadIdx.y;
  if (row >= m || column >= n) return;
  int sum = 0;
  for (size_t i = 0; i < k; i++) sum += whole(a[row * k + i]) * whole(b[i * n + column]);
  c[row * n + column] = static_cast<float>(sum);
}
