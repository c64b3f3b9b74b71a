/* gpubench
grid = "ceil_div(n, 1024)"
block = 256
*/
// Four neighbouring elements a thread, in loads and stores of 16 bytes; the last group may be
// smaller.
__global__ void __launch_bounds__(256) add1(const float *__restrict__ x, float *__restrict__ y, size_t n) {
  const size_t start = (blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x) * 4;
  if (start + 4 <= n) {
    float4 four = *reinterpret_cast<const float4 *>(x + start);
    four.x += 1.0f;
    four.y += 1.0f;
    four.z += 1.0f;
    four.w += 1.0f;
    *reinterpret_cast<float4 *>(y + start) = four;
  } else {
    for (size_t i = start; i < n; i++) y[i] = x[i] + 1.0f;
  }
}
