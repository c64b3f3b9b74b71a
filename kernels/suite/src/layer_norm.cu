#include "device/block.cuh"
#include "device/random.cuh"

// In [0, 1).
__device__ inline float random_unit(unsigned long long bits) { return static_cast<float>(bits >> 40) * 0x1p-24f; }

// Rows of COLUMNS elements with a scale and an offset of their own; see `activations` in the Rust file. The seeds of rows are not those of
// elements.
template <int COLUMNS>
__global__ void rows_apart(float *out, size_t n, unsigned long long seed) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i >= n) return;
  const unsigned long long row = random_bits(~seed, i / COLUMNS);
  const float deviation = exp2f(3.3219281f * (2.0f * random_unit(row) - 1.0f));
  const float mean = 8.0f * random_unit(row << 24) - 4.0f;
  const float width = 3.4641016f;
  out[i] = deviation * (mean + width * (random_unit(random_bits(seed, i)) - 0.5f));
}

// One row a block, read three times: for the mean, for the variance around it, and for the result. Taking the variance
// as the mean of squares less the square of the mean would save a pass and lose digits wherever a row's mean is far
// from zero.
template <int THREADS>
__global__ void __launch_bounds__(THREADS) layer_norm(const float *__restrict__ x, const float *__restrict__ gain,
                                                      const float *__restrict__ bias, float *__restrict__ y, size_t columns,
                                                      float epsilon) {
  x += blockIdx.x * columns;
  y += blockIdx.x * columns;
  float sum = 0.0f;
  for (size_t i = threadIdx.x; i < columns; i += THREADS) sum += x[i];
  const float mean = block_reduce<Sum, THREADS>(sum) / columns;
  float squares = 0.0f;
  for (size_t i = threadIdx.x; i < columns; i += THREADS) {
    const float difference = x[i] - mean;
    squares += difference * difference;
  }
  const float variance = block_reduce<Sum, THREADS>(squares) / columns;
  const float scale = rsqrtf(variance + epsilon);
  for (size_t i = threadIdx.x; i < columns; i += THREADS) y[i] = (x[i] - mean) * scale * gain[i] + bias[i];
}
