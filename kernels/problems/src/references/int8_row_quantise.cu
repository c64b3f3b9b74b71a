#include "../device/random.cuh"

// Rows of COLUMNS numbers with a scale of their own. One row in 16 is zeros. In six of 16, all are
// multiples of a half of the step, so that every other one is a tie, but for a product with the
// rounded reciprocal of the step. The step has 13 bits, so the multiples are exact.
template <int COLUMNS>
__global__ void rows_apart(float *out, size_t n, unsigned long long seed) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i >= n) return;
  // The seeds of rows are not those of elements.
  const unsigned long long row = random_bits(~seed, i / COLUMNS), bits = random_bits(seed, i);
  const float step = ldexpf(static_cast<float>(4096 + (row >> 12) % 4096), static_cast<int>(row >> 8 & 15) - 20);
  float element;
  if (row % 16 == 0) {
    element = 0.0f;
  } else if (row % 16 < 7) {
    const bool is_largest = i % COLUMNS == (row >> 32) % COLUMNS;
    element = step * 0.5f * (is_largest ? 254.0f : static_cast<float>((bits >> 32) % 509) - 254.0f);
  } else {
    element = step * 127.0f * (static_cast<float>(bits >> 40) * 0x1p-23f - 1.0f);
  }
  out[i] = element;
}

// The expected numbers, where they are too many for the CPU: one row a block of 64 threads. The
// quotient is rounded to an integer by comparisons with the two nearest ones.
__global__ void by_comparison(const float *__restrict__ x, signed char *__restrict__ q, float *__restrict__ scale, size_t columns) {
  __shared__ float found[64];
  x += blockIdx.x * columns;
  q += blockIdx.x * columns;
  float largest = 0.0f;
  for (size_t i = threadIdx.x; i < columns; i += 64) {
    const float magnitude = x[i] < 0.0f ? -x[i] : x[i];
    if (magnitude > largest) largest = magnitude;
  }
  found[threadIdx.x] = largest;
  __syncthreads();
  for (int other = 0; other < 64; other++) {
    if (found[other] > largest) largest = found[other];
  }
  // Rounded from double, a quotient of floats is that of `f32`: double has more than twice the
  // bits.
  const float step = static_cast<float>(static_cast<double>(largest) / 127.0);
  if (threadIdx.x == 0) scale[blockIdx.x] = step;
  for (size_t i = threadIdx.x; i < columns; i += 64) {
    const float magnitude = x[i] < 0.0f ? -x[i] : x[i];
    const float quotient = step > 0.0f ? static_cast<float>(static_cast<double>(magnitude) / step) : 0.0f;
    int below = static_cast<int>(quotient);
    const float over = quotient - below;
    if (over > 0.5f || (over == 0.5f && below % 2 == 1)) below++;
    q[i] = static_cast<signed char>(x[i] < 0.0f ? -below : below);
  }
}
