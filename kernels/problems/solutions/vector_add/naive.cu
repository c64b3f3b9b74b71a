/* gpubench
grid = "ceil_div(n, 256)"
block = 256
*/
// One element a thread: neighbouring threads read and write neighbouring words.
__global__ void add(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, size_t n) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
