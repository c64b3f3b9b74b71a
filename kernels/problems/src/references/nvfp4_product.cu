// C = A B' with A of m rows and B of n rows, both with k columns, all by rows.

// A number in E2M1, in halves.
__device__ inline int halves(unsigned int bits) {
  int magnitude;
  switch (bits & 7) {
    case 5: magnitude = 6; break;
    case 6: magnitude = 8; break;
    case 7: magnitude = 12; break;
    default: magnitude = bits & 7;
  }
  return bits & 8 ? -magnitude : magnitude;
}

// A positive number in E4M3, in units of 2^-9, of which all are multiples.
__device__ inline long long units(unsigned char bits) {
  const int exponent = bits >> 3 & 15, fraction = bits & 7;
  return exponent == 0 ? fraction : static_cast<long long>(8 | fraction) << (exponent - 1);
}

// The expected product, where it is too large for the CPU: one element a thread, block by block, in
// integers.
__global__ void in_integers(const unsigned char *__restrict__ a, const unsigned char *__restrict__ a_scale,
                            const unsigned char *__restrict__ b, const unsigned char *__restrict__ b_scale, float *__restrict__ c,
                            size_t m, size_t n, size_t k) {
  const size_t column = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  const size_t row = blockIdx.y * static_cast<size_t>(blockDim.y) + threadIdx.y;
  if (row >= m || column >= n) return;
  long long sum = 0;
  for (size_t block = 0; block < k / 16; block++) {
    const size_t left = row * (k / 16) + block, right = column * (k / 16) + block;
    int sum_of_block = 0;
    for (int i = 0; i < 8; i++) {
      const unsigned int first = a[left * 8 + i], second = b[right * 8 + i];
      sum_of_block += halves(first & 15) * halves(second & 15) + halves(first >> 4) * halves(second >> 4);
    }
    sum += sum_of_block * (units(a_scale[left]) * units(b_scale[right]));
  }
  c[row * n + column] = static_cast<float>(static_cast<double>(sum) * 0x1p-20);
}
