/* gpubench
grid = "ceil_div(c.len, 128)"
block = 128
*/
// One coefficient a thread, with a remainder of each product.
__global__ void multiply(const unsigned int *a, const unsigned int *b, unsigned int *c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= 2 * n - 1) return;
  unsigned int sum = 0;
  for (int j = max(0, i - n + 1); j <= min(i, n - 1); j++) {
    sum = (sum + (unsigned long long)a[j] * b[i - j]) % 2013265921u;
  }
  c[i] = sum;
}
