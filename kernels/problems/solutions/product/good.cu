/* gpubench
grid = "ceil_div(n, 256)"
block = 256
*/
// 15 * 2^27 + 1, a prime below 2^31.
constexpr unsigned int P = 2013265921u;

// -1 / P modulo 2^32, by Newton's iteration: each step doubles the number of right bits, of which P
// itself has three.
__host__ __device__ constexpr unsigned int negative_inverse() {
  unsigned int inverse = P;
  for (int step = 0; step < 4; step++) inverse *= 2u - P * inverse;
  return 0u - inverse;
}
constexpr unsigned int NEGATIVE_INVERSE = negative_inverse();
static_assert(P * NEGATIVE_INVERSE == 0xffffffffu, "the inverse is one");

// 2^64 modulo P.
constexpr unsigned int R_SQUARED = static_cast<unsigned int>((0xffffffffffffffffull % P + 1) % P);

// a b / 2^32 modulo P for residues a and b: a multiple of P is added that makes the low word zero.
__device__ inline unsigned int montgomery_product(unsigned int a, unsigned int b) {
  const unsigned long long product = static_cast<unsigned long long>(a) * b;
  const unsigned int multiple = static_cast<unsigned int>(product) * NEGATIVE_INVERSE;
  const unsigned int quotient = static_cast<unsigned int>((product + static_cast<unsigned long long>(multiple) * P) >> 32);
  return quotient >= P ? quotient - P : quotient;
}

// By Montgomery's method, without a division: the second product takes the first one's factor 1 /
// 2^32 back.
__global__ void montgomery(const unsigned int *__restrict__ a, const unsigned int *__restrict__ b, unsigned int *__restrict__ c,
                           size_t n) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < n) c[i] = montgomery_product(montgomery_product(a[i], b[i]), R_SQUARED);
}
