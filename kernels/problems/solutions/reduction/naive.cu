/* gpubench
[[step]]
memset = "sum"
value = 0

[[step]]
kernel = "atomics"
grid = "ceil_div(n, 256)"
block = 256
arguments = ["x", "sum", "n"]
*/
// Each element is added to the same word.
__global__ void atomics(const float *x, float *sum, size_t n) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < n) atomicAdd(sum, x[i]);
}
