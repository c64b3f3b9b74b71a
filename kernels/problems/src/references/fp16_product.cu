// C = A B with A of m rows and k columns, B of k rows and n columns, all by rows.

// The number that 16 bits of half precision stand for. All are whole here, and none is subnormal or
// infinite: the significand of 11 bits counts units of 2^(exponent - 25).
__device__ inline int whole(unsigned short bits) {
  const int exponent = bits >> 10 & 31;
  if (exponent == 0) return 0;
  const int magnitude = (bits & 1023 | 1024) >> (25 - exponent);
  return bits >> 15 ? -magnitude : magnitude;
}

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
