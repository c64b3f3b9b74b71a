constexpr int WIDTH = 32;
constexpr int HEIGHT = 8;

// The tile of a block and the border around it, zeros outside of the image.
template <int RADIUS>
__device__ inline void load_tile(const float *__restrict__ image, float (&tile)[HEIGHT + 2 * RADIUS][WIDTH + 2 * RADIUS], int left, int top,
                                 int width, int height) {
  for (int y = threadIdx.y; y < HEIGHT + 2 * RADIUS; y += HEIGHT) {
    for (int x = threadIdx.x; x < WIDTH + 2 * RADIUS; x += WIDTH) {
      const int row = top + y - RADIUS, column = left + x - RADIUS;
      const bool inside = 0 <= row && row < height && 0 <= column && column < width;
      tile[y][x] = inside ? image[row * static_cast<size_t>(width) + column] : 0.0f;
    }
  }
}

// Correlates an image with a square filter of 2 RADIUS + 1 taps a side, zeros outside. A block
// reads its tile and the border around it once into shared memory. Along a warp x varies fastest,
// so it reads neighbouring words of the tile and the same word of the filter.
template <int RADIUS>
__global__ void __launch_bounds__(WIDTH *HEIGHT) tiled(const float *__restrict__ image, const float *__restrict__ filter,
                                                       float *__restrict__ out, int width, int height) {
  constexpr int SIDE = 2 * RADIUS + 1;
  __shared__ float taps[SIDE * SIDE];
  __shared__ float tile[HEIGHT + 2 * RADIUS][WIDTH + 2 * RADIUS];
  const int left = blockIdx.x * WIDTH, top = blockIdx.y * HEIGHT;
  for (int tap = threadIdx.y * WIDTH + threadIdx.x; tap < SIDE * SIDE; tap += WIDTH * HEIGHT) taps[tap] = filter[tap];
  load_tile<RADIUS>(image, tile, left, top, width, height);
  __syncthreads();
  const int column = left + threadIdx.x, row = top + threadIdx.y;
  if (column >= width || row >= height) return;
  float sum = 0.0f;
#pragma unroll
  for (int y = 0; y < SIDE; y++) {
#pragma unroll
    for (int x = 0; x < SIDE; x++) sum += taps[y * SIDE + x] * tile[threadIdx.y + y][threadIdx.x + x];
  }
  out[row * static_cast<size_t>(width) + column] = sum;
}

// Taps for kernels that have them in constant memory, whose cache hands one word to a whole warp.
// As many as the largest filter has.
constexpr int MOST_TAPS = 225;
__constant__ float constant_taps[MOST_TAPS];

// The same with those taps: no shared memory and no loads for them.
template <int RADIUS>
__global__ void __launch_bounds__(WIDTH *HEIGHT) constant_memory(const float *__restrict__ image, float *__restrict__ out, int width,
                                                                 int height) {
  constexpr int SIDE = 2 * RADIUS + 1;
  static_assert(SIDE * SIDE <= MOST_TAPS, "a tap for each pixel under the filter");
  __shared__ float tile[HEIGHT + 2 * RADIUS][WIDTH + 2 * RADIUS];
  const int left = blockIdx.x * WIDTH, top = blockIdx.y * HEIGHT;
  load_tile<RADIUS>(image, tile, left, top, width, height);
  __syncthreads();
  const int column = left + threadIdx.x, row = top + threadIdx.y;
  if (column >= width || row >= height) return;
  float sum = 0.0f;
#pragma unroll
  for (int y = 0; y < SIDE; y++) {
#pragma unroll
    for (int x = 0; x < SIDE; x++) sum += constant_taps[y * SIDE + x] * tile[threadIdx.y + y][threadIdx.x + x];
  }
  out[row * static_cast<size_t>(width) + column] = sum;
}
