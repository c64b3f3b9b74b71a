/* gpubench
grid = "ceil_div(n, 256)"
block = 256
*/
constexpr unsigned int P = 2013265921u;

// The remainder of the 64-bit product; compilers turn the division by a constant into
// multiplications.
__global__ void long_remainder(const unsigned int *__restrict__ a, const unsigned int *__restrict__ b, unsigned int *__restrict__ c,
                          size_t n) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < n) c[i] = static_cast<unsigned int>(static_cast<unsigned long long>(a[i]) * b[i] % P);
}
