#include "../device/random.cuh"

// Residues modulo 15 * 2^27 + 1, one in eight of them 0, 1 or the largest, where reductions go
// wrong first.
__global__ void coefficients(unsigned int *out, size_t n, unsigned long long seed) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i >= n) return;
  const unsigned int largest = 15u << 27;
  const unsigned long long bits = random_bits(seed, i);
  switch (bits % 32) {
    case 0: out[i] = 0; break;
    case 1: out[i] = 1; break;
    case 2:
    case 3: out[i] = largest; break;
    // The high word of a product spreads 32 bits over the residues.
    default: out[i] = static_cast<unsigned int>((bits >> 32) * (largest + 1ull) >> 32);
  }
}

// The expected coefficients, where they are too many for the CPU: one a thread, from the last
// product to the first, with a remainder of each.
__global__ void term_by_term(const unsigned int *__restrict__ a, const unsigned int *__restrict__ b, unsigned int *__restrict__ c,
                             size_t n) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i >= 2 * n - 1) return;
  const unsigned long long p = 15ull << 27 | 1;
  const size_t first = i < n ? 0 : i - n + 1;
  unsigned long long sum = 0;
  for (size_t j = i < n ? i + 1 : n; j-- > first;) sum = (sum + static_cast<unsigned long long>(a[j]) * b[i - j]) % p;
  c[i] = static_cast<unsigned int>(sum);
}
