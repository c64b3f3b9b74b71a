#include "../device/random.cuh"

// Numbers of both signs, whose magnitudes are spread evenly over the binary exponents from -10 to
// 3.
__global__ void of_all_magnitudes(float *out, size_t n, unsigned long long seed) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i >= n) return;
  const unsigned long long bits = random_bits(seed, i);
  const unsigned int exponent = 127 - 10 + static_cast<unsigned int>((bits >> 32) % 14);
  out[i] = __uint_as_float(static_cast<unsigned int>(bits & 0x807fffff) | exponent << 23);
}

// The expected elements, where they are too many for the CPU, in double. The complementary error
// function loses no digits where the result is small.
__global__ void in_double(const float *__restrict__ x, float *__restrict__ y, size_t n) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < n) y[i] = static_cast<float>(0.5 * x[i] * erfc(-x[i] * 0.70710678118654752));
}
