#include "device/random.cuh"

// 15 * 2^27 + 1, a prime below 2^31.
constexpr unsigned int P = 2013265921u;

// -1 / P modulo 2^32, by Newton's iteration: each step doubles the number of right bits, of which P itself has three.
__host__ __device__ constexpr unsigned int negative_inverse() {
  unsigned int inverse = P;
  for (int step = 0; step < 4; step++) inverse *= 2u - P * inverse;
  return 0u - inverse;
}
constexpr unsigned int NEGATIVE_INVERSE = negative_inverse();
static_assert(P * NEGATIVE_INVERSE == 0xffffffffu, "the inverse is one");

// 2^64 modulo P.
constexpr unsigned int R_SQUARED = static_cast<unsigned int>((0xffffffffffffffffull % P + 1) % P);

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

// The remainder of the 64-bit product; compilers turn the division by a constant into multiplications.
__global__ void long_remainder(const unsigned int *__restrict__ a, const unsigned int *__restrict__ b, unsigned int *__restrict__ c,
                          size_t n) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < n) c[i] = static_cast<unsigned int>(static_cast<unsigned long long>(a[i]) * b[i] % P);
}

// a b / 2^32 modulo P for residues a and b: a multiple of P is added that makes the low word zero.
__device__ inline unsigned int montgomery_product(unsigned int a, unsigned int b) {
  const unsigned long long product = static_cast<unsigned long long>(a) * b;
  const unsigned int multiple = static_cast<unsigned int>(product) * NEGATIVE_INVERSE;
  const unsigned int quotient = static_cast<unsigned int>((product + static_cast<unsigned long long>(multiple) * P) >> 32);
  return quotient >= P ? quotient - P : quotient;
}

// By Montgomery's method, without a division: the second product takes the first one's factor 1 / 2^32 back.
__global__ void montgomery(const unsigned int *__restrict__ a, const unsigned int *__restrict__ b, unsigned int *__restrict__ c,
                           size_t n) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < n) c[i] = montgomery_product(montgomery_product(a[i], b[i]), R_SQUARED);
}

// The expected products, where they are too many for the CPU: one factor is doubled and the other tells when to add it, so
// that nothing is ever divided or wider than 32 bits.
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
