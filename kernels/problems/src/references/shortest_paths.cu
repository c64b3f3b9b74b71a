#include "../device/random.cuh"

// The most that an edge to the next vertex of the chain costs. All other edges cost more than that
// for each vertex of the ring that they pass.
constexpr size_t CHEAP = 16;

// Where a vertex is on the ring: a permutation of the numbers below `n` that each seed draws anew.
// It is a Feistel network over the next power of four, applied until the result is below `n`.
__device__ inline size_t place_of(size_t vertex, size_t n, unsigned long long seed) {
  int half = 1;
  while (static_cast<size_t>(1) << 2 * half < n) half++;
  const size_t mask = (static_cast<size_t>(1) << half) - 1;
  do {
    size_t left = vertex >> half, right = vertex & mask;
    for (unsigned long long round = 0; round < 4; round++) {
      const size_t mixed = left ^ (random_bits(~seed, round << 32 | right) >> 32 & mask);
      left = right;
      right = mixed;
    }
    vertex = left << half | right;
  } while (vertex >= n);
  return vertex;
}

// Edges of a graph of `sqrt(len)` vertices on a ring, whose numbers say nothing about their places.
__global__ void write_edges(float *out, size_t len, unsigned long long seed) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i >= len) return;
  size_t n = static_cast<size_t>(sqrt(static_cast<double>(len)));
  while (n * n < len) n++;
  const size_t from = place_of(i / n, n, seed), to = place_of(i % n, n, seed), reach = (to + n - from) % n;
  const unsigned long long bits = random_bits(seed, i), random = bits >> 32;
  if (reach == 0) {
    out[i] = 0.0f;
  } else if (reach == 1) {
    out[i] = static_cast<float>(from < n / 4 * 3 ? 1 + random % CHEAP : CHEAP + random % 256);
  } else if (bits % 4 == 0) {
    // Some far edges are worth while.
    const bool is_fast = bits / 4 % n == 0;
    out[i] = static_cast<float>(CHEAP * reach + (is_fast ? 0 : reach * reach / 8) + 1 + random % 100);
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
