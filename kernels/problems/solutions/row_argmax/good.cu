/* gpubench
kernel = "argmax<128>"
grid = "rows"
block = 128
arguments = ["x", "index", "columns"]
*/
constexpr unsigned int ALL_LANES = 0xffffffffu;
constexpr int WARP = 32;

struct Candidate {
  float value;
  int index;
};

// The larger value wins, and the lower index among equals.
__device__ inline Candidate better(Candidate a, Candidate b) {
  const bool first = a.value > b.value || (a.value == b.value && a.index < b.index);
  return first ? a : b;
}

__device__ inline Candidate best_of_warp(Candidate candidate) {
#pragma unroll
  for (int distance = WARP / 2; distance > 0; distance /= 2) {
    const Candidate other = {__shfl_xor_sync(ALL_LANES, candidate.value, distance),
                             __shfl_xor_sync(ALL_LANES, candidate.index, distance)};
    candidate = better(candidate, other);
  }
  return candidate;
}

// One row a block.
template <int THREADS>
__global__ void __launch_bounds__(THREADS) argmax(const float *__restrict__ x, int *__restrict__ indices, int columns) {
  constexpr int WARPS = THREADS / WARP;
  __shared__ Candidate of_warp[WARPS];
  x += blockIdx.x * static_cast<size_t>(columns);
  // A thread without elements offers the row's first one, which changes nothing.
  Candidate best = {x[0], 0};
  for (int i = threadIdx.x; i < columns; i += THREADS) best = better(best, {x[i], i});
  best = best_of_warp(best);
  if (threadIdx.x % WARP == 0) of_warp[threadIdx.x / WARP] = best;
  __syncthreads();
  if (threadIdx.x == 0) {
#pragma unroll
    for (int warp = 1; warp < WARPS; warp++) best = better(best, of_warp[warp]);
    indices[blockIdx.x] = best.index;
  }
}
