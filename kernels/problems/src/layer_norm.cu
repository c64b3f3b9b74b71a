#include "device/block.cuh"

// One row a block, read three times: for the mean, for the variance around it, and for the result.
// Taking the variance as the mean of squares less the square of the mean would save a pass and lose
// digits wherever a row's mean is far from zero.
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
