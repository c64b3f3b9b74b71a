/* gpubench
grid = "ceil_div(y.len, 256)"
block = 256
*/
// One element a thread.
__global__ void multiply(const unsigned *row_start, const unsigned *column, const float *value, const float *x, float *y, size_t rows,
                         size_t width) {
  const size_t at = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (at >= rows * width) return;
  const size_t row = at / width, k = at % width;
  float sum = 0.0f;
  for (unsigned i = row_start[row]; i < row_start[row + 1]; i++) sum += value[i] * x[column[i] * width + k];
  y[at] = sum;
}
