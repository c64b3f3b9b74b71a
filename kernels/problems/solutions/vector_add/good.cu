/* gpubench
grid = "ceil_div(n, 1024)"
block = 256
*/
// Four neighbouring elements a thread, in loads and stores of 16 bytes; the last group may be
// smaller.
__global__ void __launch_bounds__(256) add(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, size_t n) {
  const size_t start = (blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x) * 4;
  if (start + 4 <= n) {
    const float4 one = *reinterpret_cast<const float4 *>(a + start), other = *reinterpret_cast<const float4 *>(b + start);
    *reinterpret_cast<float4 *>(c + start) = make_float4(one.x + other.x, one.y + other.y, one.z + other.z, one.w + other.w);
  } else {
    for (size_t i = start; i < n; i++) c[i] = a[i] + b[i];
  }
}
