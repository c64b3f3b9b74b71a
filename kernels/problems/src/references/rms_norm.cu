#include "../device/random.cuh"

// Rows of COLUMNS uniform numbers with a scale of their own, from 2^-8 to 2^8. The seeds of rows
// are not those of elements.
template <int COLUMNS>
__global__ void rows_apart(float *out, size_t n, unsigned long long seed) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i >= n) return;
  const float unit = static_cast<float>(random_bits(~seed, i / COLUMNS) >> 40) * 0x1p-24f;
  const float element = static_cast<float>(random_bits(seed, i) >> 40) * 0x1p-23f - 1.0f;
  out[i] = exp2f(16.0f * unit - 8.0f) * element;
}

// The expected rows, where they are too many for the CPU: one row a block of 64 threads, in double.
__global__ void in_double(const float *__restrict__ x, const float *__restrict__ gain, float *__restrict__ y, size_t columns) {
  __shared__ double found[64];
  x += blockIdx.x * columns;
  y += blockIdx.x * columns;
  double sum = 0.0, mean = 0.0;
  for (size_t i = threadIdx.x; i < columns; i += 64) sum += static_cast<double>(x[i]) * x[i];
  found[threadIdx.x] = sum;
  __syncthreads();
  for (int other = 0; other < 64; other++) mean += found[other] / columns;
  const double deviation = sqrt(mean + static_cast<double>(1e-5f));
  for (size_t i = threadIdx.x; i < columns; i += 64) y[i] = static_cast<float>(x[i] / deviation * gain[i]);
}
