/* gpubench
grid = "ceil_div(rows, 8)"
block = [32, 8]
*/
constexpr unsigned int ALL_LANES = 0xffffffffu;
constexpr int WARP = 32;

// The largest of some numbers, and the sum of exponentials of their differences to it.
struct Running {
  float largest, sum;
};

__device__ inline Running merge(Running a, Running b) {
  const float largest = fmaxf(a.largest, b.largest);
  return {largest, a.sum * expf(a.largest - largest) + b.sum * expf(b.largest - largest)};
}

// One row a warp, read twice: the sum is rescaled whenever a larger element turns up (Milakov and
// Gimelshein, 2018). No barriers, and rows of a few hundred elements keep every lane busy.
__global__ void online(const float *__restrict__ x, float *__restrict__ y, size_t rows, size_t columns) {
  const size_t row = blockIdx.x * static_cast<size_t>(blockDim.y) + threadIdx.y;
  if (row >= rows) return;
  x += row * columns;
  y += row * columns;
  const unsigned int lane = threadIdx.x;
  // Lanes without an element add nothing to the sum.
  Running running = {x[0], 0.0f};
  for (size_t i = lane; i < columns; i += WARP) {
    const float value = x[i];
    if (value > running.largest) {
      running.sum = running.sum * expf(running.largest - value) + 1.0f;
      running.largest = value;
    } else {
      running.sum += expf(value - running.largest);
    }
  }
#pragma unroll
  for (int distance = WARP / 2; distance > 0; distance /= 2) {
    const Running other = {__shfl_xor_sync(ALL_LANES, running.largest, distance),
                           __shfl_xor_sync(ALL_LANES, running.sum, distance)};
    running = merge(running, other);
  }
  for (size_t i = lane; i < columns; i += WARP) y[i] = expf(x[i] - running.largest) / running.sum;
}
