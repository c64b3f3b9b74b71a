/* gpubench
grid = "ceil_div(n, 256)"
block = 256
*/
// One point a thread, one coordinate after the other.
__global__ void negate(const unsigned long long *points, unsigned long long *negatives, size_t n) {
  const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i >= n) return;
  const unsigned long long p = 0xffffffff00000001ull;
  negatives[2 * i] = points[2 * i];
  negatives[2 * i + 1] = (p - points[2 * i + 1]) % p;
}
