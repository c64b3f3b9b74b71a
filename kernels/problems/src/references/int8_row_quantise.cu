#include "../device/random.cuh"

// Rows of COLUMNS numbers with a scale of their own. One row in 16 is zeros. In three of eight, all
// are multiples of a half of the step, so that every other one is a tie.
template <int COLUMNS>
__global__ void rows_apart(float *out, size_t n, unsigned long long seed) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i >= n) return;
  // The seeds of rows are not those of elements.
  const unsigned long long row = random_bits(~seed, i / COLUMNS), bits = random_bits(seed, i);
  const float power = exp2f(static_cast<float>(row >> 8 & 15) - 8.0f);
  float element;
  if (row % 16 == 0) {
    element = 0.0f;
  } else if (row % 16 < 7) {
    const bool is_largest = i % COLUMNS == (row >> 32) % COLUMNS;
    element = power * 0.5f * (is_largest ? 254.0f : static_cast<float>((bits >> 32) % 509) - 254.0f);
  } else {
    const float fraction = 0.5f + 0.5f * static_cast<float>(row >> 40) * 0x1p-24f;
    element = power * fraction * (static_cast<float>(bits >> 40) * 0x1p-23f - 1.0f);
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
