/* gpubench
kernel = "vectors"
grid = "ceil_div(n, 1024)"
block = 256
arguments = ["x", "y", "n"]
*/

// Four elements a thread, in one load and one store. The last thread has those that are left.
__global__ void __launch_bounds__(256) vectors(const float *__restrict__ x, float *__restrict__ y, size_t n) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < n / 4) {
    const float4 in = reinterpret_cast<const float4 *>(x)[i];
    reinterpret_cast<float4 *>(y)[i] = make_float4(fmaxf(in.x, 0.0f), fmaxf(in.y, 0.0f), fmaxf(in.z, 0.0f), fmaxf(in.w, 0.0f));
  } else if (i == n / 4) {
    for (size_t rest = 4 * i; rest < n; rest++) y[rest] = fmaxf(x[rest], 0.0f);
  }
}
