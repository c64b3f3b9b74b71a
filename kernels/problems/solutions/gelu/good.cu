/* gpubench
kernel = "vectors"
grid = "ceil_div(n, 1024)"
block = 256
arguments = ["x", "y", "n"]
*/

__device__ inline float gelu(float x) { return 0.5f * x * (1.0f + erff(x * 0.70710678f)); }

// Four elements a thread, in one load and one store. The last thread has those that are left.
__global__ void __launch_bounds__(256) vectors(const float *__restrict__ x, float *__restrict__ y, size_t n) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < n / 4) {
    const float4 in = reinterpret_cast<const float4 *>(x)[i];
    reinterpret_cast<float4 *>(y)[i] = make_float4(gelu(in.x), gelu(in.y), gelu(in.z), gelu(in.w));
  } else if (i == n / 4) {
    for (size_t rest = 4 * i; rest < n; rest++) y[rest] = gelu(x[rest]);
  }
}
