/* gpubench
grid = "ceil_div(rows, 64)"
block = 64
*/
// One row a thread. Neighbouring threads read words that are a row apart.
__global__ void layer_norm(const float *x, const float *gain, const float *bias, float *y, size_t rows, size_t columns) {
  const size_t row = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (row >= rows) return;
  x += row * columns;
  y += row * columns;
  float sum = 0.0f;
  for (size_t i = 0; i < columns; i++) sum += x[i];
  const float mean = sum / columns;
  float squares = 0.0f;
  for (size_t i = 0; i < columns; i++) squares += (x[i] - mean) * (x[i] - mean);
  const float scale = rsqrtf(squares / columns + 1e-4f);
  for (size_t i = 0; i < columns; i++) y[i] = (x[i] - mean) * scale * gain[i] + bias[i];
}
