/* gpubench
kernel = "naive"
grid = "ceil_div(n, 256)"
block = 256
arguments = ["x", "y", "n"]
*/

// One element a thread.
__global__ void naive(const float *__restrict__ x, float *__restrict__ y, size_t n) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < n) y[i] = fmaxf(x[i], 0.0f);
}
