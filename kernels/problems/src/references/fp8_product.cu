#include "../device/random.cuh"

// An integer from -15 to 15: small ones mostly, so that long sums stay small.
__device__ inline int small_integer(unsigned long long bits) {
  const unsigned int number = static_cast<unsigned int>(bits >> 32);
  return bits % 8 == 0 ? static_cast<int>(number % 31) - 15 : static_cast<int>(number % 7) - 3;
}

// `integer` times 2^`exponent` in E4M3, which holds it exactly: from -15 to 15, from -9 to 4.
__device__ inline unsigned char e4m3(int integer, int exponent) {
  unsigned int magnitude = integer < 0 ? -integer : integer, biased = exponent + 10;
  // Eighths of the power of two, which are from 8 to 15 unless the number is subnormal.
  while (magnitude < 8 && biased > 1) magnitude *= 2, biased--;
  const unsigned int bits = magnitude < 8 ? magnitude : biased << 3 | magnitude - 8;
  return static_cast<unsigned char>(integer < 0 ? bits | 0x80 : bits);
}

// Rows of COLUMNS numbers that are small integers times a power of two, which each row has its own
// of: from the subnormal numbers to those next to the largest.
template <int COLUMNS>
__global__ void rows_apart(unsigned char *out, size_t n, unsigned long long seed) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i >= n) return;
  const int exponent = static_cast<int>(random_bits(~seed, i / COLUMNS) % 14) - 9;
  out[i] = e4m3(small_integer(random_bits(seed, i)), exponent);
}

// C = A B' with A of m rows and B of n rows, both with k columns, all by rows.

// A number in units of 2^-9, of which all are multiples.
__device__ inline long long units(unsigned char bits) {
  const int exponent = bits >> 3 & 15, fraction = bits & 7;
  const long long magnitude = exponent == 0 ? fraction : static_cast<long long>(8 | fraction) << (exponent - 1);
  return bits >> 7 ? -magnitude : magnitude;
}

// The expected product, where it is too large for the CPU: one element a thread, in integers.
__global__ void in_integers(const unsigned char *__restrict__ a, const unsigned char *__restrict__ b, float *__restrict__ c, size_t m,
                            size_t n, size_t k) {
  const size_t column = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  const size_t row = blockIdx.y * static_cast<size_t>(blockDim.y) + threadIdx.y;
  if (row >= m || column >= n) return;
  long long sum = 0;
  for (size_t i = 0; i < k; i++) sum += units(a[row * k + i]) * units(b[column * k + i]);
  c[row * n + column] = static_cast<float>(static_cast<double>(sum) * 0x1p-18);
}
