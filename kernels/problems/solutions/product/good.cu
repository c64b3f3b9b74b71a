/* gpubench
grid = "ceil_div(n, 1024)"
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

__device__ inline unsigned int residue(unsigned int a, unsigned int b) {
  // The second product takes the first one's factor 1 / 2^32 back.
  return montgomery_product(montgomery_product(a, b), R_SQUARED);
}

// By Montgomery's method, without a division. Four neighbouring elements a thread, in loads and
// stores of 16 bytes; the last group may be smaller.
__global__ void __launch_bounds__(256) montgomery(const unsigned int *__restrict__ a, const unsigned int *__restrict__ b,
                                                  unsigned int *__restrict__ c, size_t n) {
  const size_t start = (blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x) * 4;
  if (start + 4 <= n) {
    const uint4 one = *reinterpret_cast<const uint4 *>(a + start), other = *reinterpret_cast<const uint4 *>(b + start);
    *reinterpret_cast<uint4 *>(c + start) =
        make_uint4(residue(one.x, other.x), residue(one.y, other.y), residue(one.z, other.z), residue(one.w, other.w));
  } else {
    for (size_t i = start; i < n; i++) c[i] = residue(a[i], b[i]);
  }
}
