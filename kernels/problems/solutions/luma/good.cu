/* gpubench
grid = "ceil_div(gray.len, 1024)"
block = 256
arguments = ["rgb", "gray", "gray.len"]
*/
__device__ inline float luma(float red, float green, float blue) { return 0.2126f * red + 0.7152f * green + 0.0722f * blue; }

// Four neighbouring pixels a thread: three loads and one store of 16 bytes. The last pixels may be
// fewer.
__global__ void __launch_bounds__(256) grayscale(const float *__restrict__ rgb, float *__restrict__ gray, size_t pixels) {
  const size_t start = (blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x) * 4;
  if (start + 4 <= pixels) {
    const float4 *const words = reinterpret_cast<const float4 *>(rgb + 3 * start);
    const float4 a = words[0], b = words[1], c = words[2];
    *reinterpret_cast<float4 *>(gray + start) =
        make_float4(luma(a.x, a.y, a.z), luma(a.w, b.x, b.y), luma(b.z, b.w, c.x), luma(c.y, c.z, c.w));
  } else {
    for (size_t i = start; i < pixels; i++) gray[i] = luma(rgb[3 * i], rgb[3 * i + 1], rgb[3 * i + 2]);
  }
}
