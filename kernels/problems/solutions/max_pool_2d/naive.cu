/* gpubench
grid = ["ceil_div(ceil_div(width, 2), 32)", "ceil_div(ceil_div(height, 2), 8)", "planes"]
block = [32, 8]
*/
// The least number of `float`: NVRTC has no INFINITY.
constexpr float LOWEST = -3.402823466e38f;

// One output a thread, which reads its whole window.
__global__ void max_pool(const float *__restrict__ x, float *__restrict__ y, int height, int width, int dilation) {
  const int rows = (height + 1) / 2, columns = (width + 1) / 2;
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || column >= columns) return;
  x += blockIdx.z * static_cast<size_t>(height) * width;
  float largest = LOWEST;
  for (int a = -2; a <= 2; a++) {
    for (int b = -2; b <= 2; b++) {
      const int i = 2 * row + a * dilation, j = 2 * column + b * dilation;
      if (0 <= i && i < height && 0 <= j && j < width) largest = fmaxf(largest, x[i * static_cast<size_t>(width) + j]);
    }
  }
  y[(blockIdx.z * static_cast<size_t>(rows) + row) * columns + column] = largest;
}
