/* gpubench
grid = ["ceil_div(ceil_div(width, 2), 32)", "ceil_div(ceil_div(height, 2), 16)", "planes"]
block = [32, 8]
shared = "4 * 32 * (31 + 4 * dilation)"
*/
// The least number of `float`: NVRTC has no INFINITY.
constexpr float LOWEST = -3.402823466e38f;
constexpr int COLUMNS = 32;
constexpr int LINES = 8;
constexpr int ROWS = 16;

// The largest of a window is the largest of the largest of its rows. A block of 32 by 16 outputs
// finds the latter once, for all rows that it needs, and keeps them in shared memory: 5 loads for
// each row and 5 words of shared memory for each output instead of 25 loads.
__global__ void __launch_bounds__(COLUMNS *LINES) max_pool(const float *__restrict__ x, float *__restrict__ y, int height, int width,
                                                           int dilation) {
  extern __shared__ float of_row[];
  const int rows = (height + 1) / 2, columns = (width + 1) / 2;
  const int column = blockIdx.x * COLUMNS + threadIdx.x, first = blockIdx.y * ROWS;
  const int top = 2 * first - 2 * dilation, lines = 2 * ROWS - 1 + 4 * dilation;
  x += blockIdx.z * static_cast<size_t>(height) * width;
  for (int line = threadIdx.y; line < lines; line += LINES) {
    const int i = top + line;
    float largest = LOWEST;
    if (0 <= i && i < height) {
#pragma unroll
      for (int b = -2; b <= 2; b++) {
        const int j = 2 * column + b * dilation;
        if (0 <= j && j < width) largest = fmaxf(largest, x[i * static_cast<size_t>(width) + j]);
      }
    }
    of_row[line * COLUMNS + threadIdx.x] = largest;
  }
  __syncthreads();
  for (int row = threadIdx.y; row < ROWS; row += LINES) {
    if (first + row >= rows || column >= columns) continue;
    float largest = LOWEST;
#pragma unroll
    for (int a = 0; a < 5; a++) largest = fmaxf(largest, of_row[(2 * row + a * dilation) * COLUMNS + threadIdx.x]);
    y[(blockIdx.z * static_cast<size_t>(rows) + first + row) * columns + column] = largest;
  }
}
