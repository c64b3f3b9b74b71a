#include "../device/random.cuh"

// In [0, 1).
__device__ inline double random_unit(unsigned long long bits) { return static_cast<double>(bits >> 40) * 0x1p-24; }

// Products of lower triangular N by N matrices and their transposes, which are positive definite.
// The diagonal of a factor is from 0.25 to 2, and what is below from -1/2 to 1/2, less in some
// matrices than in others: that makes them well or badly conditioned. No eigenvalue is below 1/8:
// then a factorisation in single precision succeeds for N up to 100, whatever its order (Higham,
// theorem 10.7; the diagonal is at most 29).
template <int N>
__global__ void positive_definite(float *out, size_t len, unsigned long long seed) {
  const size_t at = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (at >= len) return;
  const size_t matrix = at / (N * N);
  const int i = static_cast<int>(at / N % N), j = static_cast<int>(at % N);
  const double below = random_unit(random_bits(~seed, matrix));
  const auto factor = [&](int row, int column) {
    const double unit = random_unit(random_bits(seed, (matrix * N + row) * N + column));
    return row == column ? 0.25 + 1.75 * unit : below * (unit - 0.5);
  };
  double sum = i == j ? 0.125 : 0.0;
  for (int k = 0; k <= i && k <= j; k++) sum += factor(i, k) * factor(j, k);
  out[at] = static_cast<float>(sum);
}
