/* gpubench
grid = "ceil_div(n, 256)"
block = 256
*/
// The thread of the first element of a segment adds up all of it, and the others do nothing.
__global__ void scan(const float *x, const unsigned char *begins, float *y, size_t n) {
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i >= n || (i > 0 && !begins[i])) return;
  float sum = x[i];
  y[i] = sum;
  for (i++; i < n && !begins[i]; i++) {
    sum += x[i];
    y[i] = sum;
  }
}
