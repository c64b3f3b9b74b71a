#include "../device/random.cuh"

// Residues modulo 2^64 - 2^32 + 1, one in eight of them 0, 1 or the largest, where negation goes
// wrong first.
__global__ void coordinates(unsigned long long *out, size_t n, unsigned long long seed) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i >= n) return;
  const unsigned long long largest = 0xffffffff00000000ull, bits = random_bits(seed, i);
  switch (random_bits(~seed, i) % 32) {
    case 0: out[i] = 0; break;
    case 1: out[i] = 1; break;
    case 2:
    case 3: out[i] = largest; break;
    default: out[i] = bits > largest ? bits - largest - 1 : bits;
  }
}

// The expected points, where they are too many for the CPU: one coordinate a thread. The negative
// of y is its complement plus p + 1, modulo 2^64.
__global__ void by_complement(const unsigned long long *__restrict__ points, unsigned long long *__restrict__ negatives, size_t n) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i >= n) return;
  const unsigned long long coordinate = points[i];
  const bool is_kept = i % 2 == 0 || coordinate == 0;
  negatives[i] = is_kept ? coordinate : ~coordinate + 0xffffffff00000002ull;
}
