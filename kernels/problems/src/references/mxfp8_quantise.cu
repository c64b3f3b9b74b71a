#include "../device/random.cuh"

// Blocks of 32 with a magnitude of their own; one in 32 is zeros. Elements have eight bits, and
// many are ties. One in four is smaller by up to 2^17, and becomes subnormal or zero.
__global__ void blocks_apart(float *out, size_t n, unsigned long long seed) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i >= n) return;
  // The seeds of blocks are not those of elements.
  const unsigned long long block = random_bits(~seed, i / 32), bits = random_bits(seed, i);
  int exponent = static_cast<int>((block >> 8) % 61) - 30;
  if (bits % 4 == 0) exponent -= static_cast<int>((bits >> 8) % 18);
  const int number = static_cast<int>((bits >> 16) % 511) - 255;
  out[i] = block % 32 == 0 ? 0.0f : ldexpf(static_cast<float>(number), exponent);
}

// The magnitude that the bits of a number in E4M3 stand for.
__device__ inline double magnitude(int bits) {
  const int exponent = bits >> 3 & 15, fraction = bits & 7;
  return exponent == 0 ? ldexp(static_cast<double>(fraction), -9) : ldexp(static_cast<double>(8 + fraction), exponent - 10);
}

// The expected numbers, where they are too many for the CPU: one element a thread, by a search
// among the numbers of E4M3.
__global__ void by_search(const float *__restrict__ x, unsigned char *__restrict__ q, unsigned char *__restrict__ scale, size_t n) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i >= n) return;
  double largest = 0.0;
  for (size_t other = i / 32 * 32; other < i / 32 * 32 + 32; other++) {
    const double of_other = fabs(static_cast<double>(x[other]));
    if (of_other > largest) largest = of_other;
  }
  int exponent = largest > 0.0 ? ilogb(largest) - 8 : -127;
  if (exponent < -127) exponent = -127;
  if (i % 32 == 0) scale[i / 32] = static_cast<unsigned char>(exponent + 127);
  const double scaled = ldexp(fabs(static_cast<double>(x[i])), -exponent);
  // The largest number that is not above the element, and the next one, if there is one.
  int below = 0;
  for (int step = 64; step > 0; step /= 2) {
    if (below + step <= 0x7e && magnitude(below + step) <= scaled) below += step;
  }
  if (below < 0x7e) {
    const double down = scaled - magnitude(below), up = magnitude(below + 1) - scaled;
    if (up < down || (up == down && below % 2 == 1)) below++;
  }
  q[i] = static_cast<unsigned char>(signbit(x[i]) ? below | 0x80 : below);
}
