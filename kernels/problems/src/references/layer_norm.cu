#include "../device/random.cuh"

// In [0, 1).
__device__ inline float random_unit(unsigned long long bits) { return static_cast<float>(bits >> 40) * 0x1p-24f; }

// Rows of COLUMNS elements with a scale and an offset of their own; see `activations` in the Rust
// file. The seeds of rows are not those of elements.
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

// The expected rows, where they are too many for the CPU: one row a block of 64 threads, in double.
__global__ void in_double(const float *__restrict__ x, const float *__restrict__ gain, const float *__restrict__ bias,
                          float *__restrict__ y, size_t columns, float epsilon) {
  __shared__ double found[64];
  x += blockIdx.x * columns;
  y += blockIdx.x * columns;
  double sum = 0.0, mean = 0.0, variance = 0.0;
  for (size_t i = threadIdx.x; i < columns; i += 64) sum += x[i];
  found[threadIdx.x] = sum;
  __syncthreads();
  for (int other = 0; other < 64; other++) mean += found[other] / columns;
  __syncthreads();
  sum = 0.0;
  for (size_t i = threadIdx.x; i < columns; i += 64) sum += (x[i] - mean) * (x[i] - mean);
  found[threadIdx.x] = sum;
  __syncthreads();
  for (int other = 0; other < 64; other++) variance += found[other] / columns;
  const double deviation = sqrt(variance + static_cast<double>(epsilon));
  for (size_t i = threadIdx.x; i < columns; i += 64) y[i] = static_cast<float>((x[i] - mean) / deviation * gain[i] + bias[i]);
}
