// The expected planes, where they are too large for the CPU: one output a thread, which goes
// through its window column by column, from the last element to the first.
__global__ void column_by_column(const float *__restrict__ x, float *__restrict__ y, size_t planes, long long height, long long width,
                                 long long dilation) {
  const long long rows = (height + 1) / 2, columns = (width + 1) / 2;
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i >= planes * rows * columns) return;
  const long long column = i % columns, row = i / columns % rows;
  x += i / columns / rows * (height * width);
  float largest = x[2 * row * width + 2 * column];
  for (int b = 2; b >= -2; b--) {
    for (int a = 2; a >= -2; a--) {
      const long long from_row = 2 * row + a * dilation, from_column = 2 * column + b * dilation;
      if (from_row < 0 || from_row >= height || from_column < 0 || from_column >= width) continue;
      const float element = x[from_row * width + from_column];
      if (element > largest) largest = element;
    }
  }
  y[i] = largest;
}
