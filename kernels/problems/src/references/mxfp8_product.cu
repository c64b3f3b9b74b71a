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

// Each block of 32 elements has a power of two of its own, from the subnormal numbers to those next
// to the largest: the same in all calls and for A and B, so that scales can be chosen that make up
// for it.
__device__ inline int exponent_of_block(unsigned long long block) { return static_cast<int>(random_bits(0, block) % 14) - 9; }

__global__ void elements(unsigned char *out, size_t n, unsigned long long seed) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < n) out[i] = e4m3(small_integer(random_bits(seed, i)), exponent_of_block(i / 32));
}

// Scales that make all elements small integers times 2^-2 to 2^2, so that long sums are exact.
__global__ void scales(unsigned char *out, size_t n, unsigned long long seed) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i >= n) return;
  const int exponent = static_cast<int>(random_bits(seed, i) % 5) - 2;
  out[i] = static_cast<unsigned char>(127 + exponent - exponent_of_block(i));
}

// C = A B' with A of m rows and B of n rows, both with k columns, all by rows.

// A number in units of 2^-9, of which all are multiples.
__device__ inline int units(unsigned char bits) {
  const int exponent = bits >> 3 & 15, fraction = bits & 7;
  const int magnitude = exponent == 0 ? fraction : (8 | fraction) << (exponent - 1);
  return bits >> 7 ? -magnitude : magnitude;
}

// The expected product, where it is too large for the CPU: one element a thread, block by block, in
// integers within a block.
__global__ void block_by_block(const unsigned char *__restrict__ a, const unsigned char *__restrict__ a_scale,
                               const unsigned char *__restrict__ b, const unsigned char *__restrict__ b_scale, float *__restrict__ c,
                               size_t m, size_t n, size_t k) {
  const size_t column = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  const size_t row = blockIdx.y * static_cast<size_t>(blockDim.y) + threadIdx.y;
  if (row >= m || column >= n) return;
  double sum = 0.0;
  for (size_t block = 0; block < k / 32; block++) {
    const size_t left = row * (k / 32) + block, right = column * (k / 32) + block;
    long long sum_of_block = 0;
    for (int i = 0; i < 32; i++) sum_of_block += static_cast<long long>(units(a[left * 32 + i])) * units(b[right * 32 + i]);
    sum += ldexp(static_cast<double>(sum_of_block), a_scale[left] + b_scale[right] - 2 * 127 - 2 * 9);
  }
  c[row * n + column] = static_cast<float>(sum);
}
