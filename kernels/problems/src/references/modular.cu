#include "../device/random.cuh"

// 15 * 2^27 + 1, a prime below 2^31.
constexpr unsigned int P = 2013265921u;

// Residues modulo P, one in eight of them 0, 1 or P - 1, where reductions go wrong first.
__global__ void residues(unsigned int *out, size_t n, unsigned long long seed) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i >= n) return;
  const unsigned long long bits = random_bits(seed, i);
  // The high word of a product with P spreads 32 bits over the residues.
  const unsigned int residue = static_cast<unsigned int>((bits >> 32) * P >> 32);
  switch (bits % 32) {
    case 0: out[i] = 0; break;
    case 1: out[i] = 1; break;
    case 2:
    case 3: out[i] = P - 1; break;
    default: out[i] = residue;
  }
}

// The expected products, where they are too many for the CPU: one factor is doubled and the other
// tells when to add it, so that nothing is ever divided or wider than 32 bits.
__global__ void by_doubling(const unsigned int *__restrict__ a, const unsigned int *__restrict__ b, unsigned int *__restrict__ c,
                            size_t n) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i >= n) return;
  constexpr unsigned int prime = 15u << 27 | 1u;
  unsigned int doubled = a[i], sum = 0;
  for (unsigned int bits = b[i]; bits != 0; bits >>= 1) {
    if (bits & 1u) sum = sum >= prime - doubled ? sum - (prime - doubled) : sum + doubled;
    doubled = doubled >= prime - doubled ? doubled - (prime - doubled) : doubled + doubled;
  }
  c[i] = sum;
}
