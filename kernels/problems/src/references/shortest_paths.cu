#include "../device/random.cuh"

// Edges of a graph of `sqrt(len)` vertices on a ring, whose numbers are scattered along it.
__global__ void write_edges(float *out, size_t len, unsigned long long seed) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i >= len) return;
  size_t n = static_cast<size_t>(sqrt(static_cast<double>(len)));
  while (n * n < len) n++;
  // A prime that divides no number below it scatters them.
  const size_t from = i / n * 7919 % n, to = i % n * 7919 % n, reach = (to + n - from) % n;
  const unsigned long long bits = random_bits(seed, i);
  if (reach == 0) {
    out[i] = 0.0f;
  } else if (reach == 1 || (reach <= n / 8 && bits % 2 == 0)) {
    out[i] = static_cast<float>(reach * reach / 8 + 1 + (bits >> 32) % 100);
  } else {
    out[i] = __int_as_float(0x7f800000);
  }
}

// The expected lengths, where the graph is too large for the CPU: one pair of vertices a thread,
// and one launch for each vertex that paths may go through (Floyd and Warshall). The row and the
// column of that vertex do not change meanwhile.
__global__ void through(float *distances, size_t n, size_t over) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i >= n * n) return;
  const float length = distances[i / n * n + over] + distances[over * n + i % n];
  if (length < distances[i]) distances[i] = length;
}
