/* gpubench
grid = "ceil_div(rows, 64)"
block = 64
*/
// One row a thread. Neighbouring threads read words that are a row apart.
__global__ void softmax(const float *x, float *y, size_t rows, size_t columns) {
  const size_t row = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (row >= rows) return;
  x += row * columns;
  y += row * columns;
  float largest = x[0];
  for (size_t i = 1; i < columns; i++) largest = fmaxf(largest, x[i]);
  float sum = 0.0f;
  for (size_t i = 0; i < columns; i++) sum += expf(x[i] - largest);
  for (size_t i = 0; i < columns; i++) y[i] = expf(x[i] - largest) / sum;
}
