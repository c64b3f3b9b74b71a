/* gpubench
kernel = "naive"
grid = "ceil_div(rows, 128)"
block = 128
arguments = ["x", "gain", "y", "rows", "columns"]
*/

// One row a thread.
__global__ void naive(const float *__restrict__ x, const float *__restrict__ gain, float *__restrict__ y, size_t rows, size_t columns) {
  const size_t row = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (size_t i = 0; i < columns; i++) sum += x[row * columns + i] * x[row * columns + i];
  const float scale = 1.0f / sqrtf(sum / columns + 1e-5f);
  for (size_t i = 0; i < columns; i++) y[row * columns + i] = x[row * columns + i] * scale * gain[i];
}
