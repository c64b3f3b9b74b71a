// One row a thread.
extern "C" __global__ void plain_sums(const float *x, float *sums, size_t rows, size_t cols) {
  const size_t row = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (row >= rows) return;
  double sum = 0.0;
  for (size_t col = 0; col < cols; col++) sum += x[row * cols + col];
  sums[row] = float(sum);
}

extern "C" __global__ void plain_softmax(const float *x, float *y, size_t rows, size_t cols) {
  const size_t row = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (row >= rows) return;
  x += row * cols;
  y += row * cols;
  float largest = x[0];
  for (size_t col = 1; col < cols; col++) largest = x[col] > largest ? x[col] : largest;
  double sum = 0.0;
  for (size_t col = 0; col < cols; col++) sum += exp(double(x[col]) - largest);
  for (size_t col = 0; col < cols; col++) y[col] = float(exp(double(x[col]) - largest) / sum);
}

extern "C" __global__ void ramp(float *out, size_t len, unsigned long long seed) {
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < len) out[i] = float((i + seed) % 256) / 256.0f;
}
