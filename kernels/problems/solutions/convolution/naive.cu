/* gpubench
grid = ["ceil_div(width, 32)", "ceil_div(height, 8)"]
block = [32, 8]
*/
// One pixel a thread, straight from global memory.
__global__ void correlate(const float *image, const float *filter, float *out, int width, int height, int radius) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= width || row >= height) return;
  float sum = 0.0f;
  for (int y = -radius; y <= radius; y++) {
    for (int x = -radius; x <= radius; x++) {
      const int i = row + y, j = column + x;
      if (i < 0 || i >= height || j < 0 || j >= width) continue;
      sum += filter[(y + radius) * (2 * radius + 1) + x + radius] * image[i * size_t(width) + j];
    }
  }
  out[row * size_t(width) + column] = sum;
}
