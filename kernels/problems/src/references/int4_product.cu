// C = X W' with X of m rows and W of n rows, both with k columns, all by rows.

// The number that 16 bits of half precision stand for. All are whole here, and none is subnormal or
// infinite: the significand of 11 bits counts units of 2^(exponent - 25).
__device__ inline int whole(unsigned short bits) {
  const int exponent = bits >> 10 & 31;
  if (exponent == 0) return 0;
  const int magnitude = (bits & 1023 | 1024) >> (25 - exponent);
  return bits >> 15 ? -magnitude : magnitude;
}

// The expected product, where it is too large for the CPU: one element a thread, in integers, one
// group of weights after another.
__global__ void in_integers(const unsigned short *__restrict__ x, const unsigned char *__restrict__ w,
                            const unsigned short *__restrict__ scale, float *__restrict__ c, size_t m, size_t n, size_t k) {
  const size_t column = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  const size_t row = blockIdx.y * static_cast<size_t>(blockDim.y) + threadIdx.y;
  if (row >= m || column >= n) return;
  int sum = 0;
  for (size_t group = 0; group < k / 32; group++) {
    const unsigned short *left = x + row * k + group * 32;
    const unsigned char *right = w + (column * k + group * 32) / 2;
    int sum_of_group = 0;
    for (int i = 0; i < 16; i++) {
      sum_of_group += whole(left[2 * i]) * (right[i] % 16 - 8);
      sum_of_group += whole(left[2 * i + 1]) * (right[i] / 16 - 8);
    }
    sum += sum_of_group * whole(scale[column * (k / 32) + group]);
  }
  c[row * n + column] = static_cast<float>(sum);
}
