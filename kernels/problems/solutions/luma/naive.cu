/* gpubench
grid = "ceil_div(gray.len, 256)"
block = 256
arguments = ["rgb", "gray", "gray.len"]
*/
// Luma of linear light by Rec. 709, one pixel a thread. The three loads of a warp touch the same
// 384 bytes, so the cache serves two of them.
__global__ void grayscale(const float *__restrict__ rgb, float *__restrict__ gray, size_t pixels) {
  const size_t pixel = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (pixel >= pixels) return;
  const float red = rgb[3 * pixel], green = rgb[3 * pixel + 1], blue = rgb[3 * pixel + 2];
  gray[pixel] = 0.2126f * red + 0.7152f * green + 0.0722f * blue;
}
