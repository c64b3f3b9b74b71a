/* gpubench
grid = ["ceil_div(width, 32)", "ceil_div(height, 8)"]
block = [32, 8]
*/
// One pixel a thread, which adds up its whole box.
__global__ void blur(const unsigned char *__restrict__ image, float *__restrict__ blurred, int width, int height, int radius) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= width || row >= height) return;
  const int top = max(row - radius, 0), bottom = min(row + radius, height - 1);
  const int left = max(column - radius, 0), right = min(column + radius, width - 1);
  float sum = 0.0f;
  for (int i = top; i <= bottom; i++) {
    for (int j = left; j <= right; j++) sum += image[i * static_cast<size_t>(width) + j];
  }
  blurred[row * static_cast<size_t>(width) + column] = sum / ((bottom - top + 1) * (right - left + 1));
}
