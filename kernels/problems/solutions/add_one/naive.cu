/* gpubench
grid = "ceil_div(n, 256)"
block = 256
*/
// y = x + 1, one element a thread.
__global__ void add1(const float *__restrict__ x, float *__restrict__ y, size_t n) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < n) y[i] = x[i] + 1.0f;
}
