/* gpubench
grid = ["ceil_div(width, 32)", "ceil_div(height, 16)"]
block = [32, 8]
shared = "4 * ((2 * radius + 1) * (2 * radius + 1) + (32 + 2 * radius) * (16 + 2 * radius))"
*/
constexpr int WIDTH = 32;
constexpr int HEIGHT = 16;
constexpr int LINES = 8;

// A block reads its tile, the border around it and the filter once into shared memory, zeros for
// what is outside of the image. A thread has two pixels, so a tap that it reads serves two
// products. Along a warp x varies fastest, so it reads neighbouring words of the tile and the same
// word of the filter.
template <int RADIUS>
__device__ inline void add_up(const float *taps, const float *tile, int radius, float &upper, float &lower) {
  // The radius of the public cases is a constant, and the loops over it have no counters.
  const int reach = RADIUS < 0 ? radius : RADIUS, side = 2 * reach + 1, stride = WIDTH + 2 * reach;
#pragma unroll
  for (int y = 0; y < side; y++) {
#pragma unroll
    for (int x = 0; x < side; x++) {
      const float tap = taps[y * side + x];
      upper += tap * tile[(threadIdx.y + y) * stride + threadIdx.x + x];
      lower += tap * tile[(threadIdx.y + LINES + y) * stride + threadIdx.x + x];
    }
  }
}

__global__ void __launch_bounds__(WIDTH *LINES) correlate(const float *__restrict__ image, const float *__restrict__ filter,
                                                          float *__restrict__ out, int width, int height, int radius) {
  extern __shared__ float shared[];
  const int taps = (2 * radius + 1) * (2 * radius + 1), stride = WIDTH + 2 * radius;
  float *const tile = shared + taps;
  const int left = blockIdx.x * WIDTH, top = blockIdx.y * HEIGHT;
  for (int tap = threadIdx.y * WIDTH + threadIdx.x; tap < taps; tap += WIDTH * LINES) shared[tap] = filter[tap];
  for (int y = threadIdx.y; y < HEIGHT + 2 * radius; y += LINES) {
    for (int x = threadIdx.x; x < stride; x += WIDTH) {
      const int row = top + y - radius, column = left + x - radius;
      const bool inside = 0 <= row && row < height && 0 <= column && column < width;
      tile[y * stride + x] = inside ? image[row * static_cast<size_t>(width) + column] : 0.0f;
    }
  }
  __syncthreads();
  const int column = left + threadIdx.x, row = top + threadIdx.y;
  float upper = 0.0f, lower = 0.0f;
  if (radius == 2) add_up<2>(shared, tile, radius, upper, lower);
  else add_up<-1>(shared, tile, radius, upper, lower);
  if (column >= width) return;
  if (row < height) out[row * static_cast<size_t>(width) + column] = upper;
  if (row + LINES < height) out[(row + LINES) * static_cast<size_t>(width) + column] = lower;
}
