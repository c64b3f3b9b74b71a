/* gpubench
[[scratch]]
name = "sums"
bytes = "4 * ceil_div(n, 1024)"

[[step]]
kernel = "scan_tiles"
grid = "ceil_div(n, 1024)"
block = 256
arguments = ["x", "y", "sums", "n"]

[[step]]
kernel = "scan_sums"
grid = 1
block = 256
arguments = ["sums", "ceil_div(n, 1024)"]

[[step]]
kernel = "add_offsets"
grid = "max(1, ceil_div(n, 1024) - 1)"
block = 256
arguments = ["y", "sums", "n"]
*/
constexpr unsigned int ALL_LANES = 0xffffffffu;
constexpr int WARP = 32;

// The sum of the values of this lane and the lanes before it.
template <class T>
__device__ T warp_inclusive_sum(T value) {
  const int lane = threadIdx.x % WARP;
#pragma unroll
  for (int distance = 1; distance < WARP; distance *= 2) {
    const T before = __shfl_up_sync(ALL_LANES, value, distance);
    if (lane >= distance) value += before;
  }
  return value;
}

// The sum of the values of this thread and the threads before it; `total` is that of the whole
// block. All threads must call it.
template <int THREADS, class T>
__device__ T block_inclusive_sum(T value, T *total) {
  static_assert(THREADS % WARP == 0, "a block is whole warps");
  constexpr int WARPS = THREADS / WARP;
  __shared__ T of_warp[WARPS];
  const int warp = threadIdx.x / WARP;
  value = warp_inclusive_sum(value);
  if (threadIdx.x % WARP == WARP - 1) of_warp[warp] = value;
  __syncthreads();
  T before = 0, all = 0;
#pragma unroll
  for (int other = 0; other < WARPS; other++) {
    if (other < warp) before += of_warp[other];
    all += of_warp[other];
  }
  __syncthreads();
  *total = all;
  return before + value;
}

constexpr int THREADS = 256;
constexpr int ITEMS = 4;
constexpr int TILE = THREADS * ITEMS;

// Four elements from `start` on, zeros beyond the end. `start` is a multiple of four, so a whole
// group is one aligned load.
__device__ inline uint4 load(const unsigned int *__restrict__ x, size_t start, size_t n) {
  if (start + ITEMS <= n) return *reinterpret_cast<const uint4 *>(x + start);
  uint4 items = make_uint4(0, 0, 0, 0);
  if (start < n) items.x = x[start];
  if (start + 1 < n) items.y = x[start + 1];
  if (start + 2 < n) items.z = x[start + 2];
  return items;
}

__device__ inline void store(unsigned int *__restrict__ y, size_t start, size_t n, uint4 items) {
  if (start + ITEMS <= n) {
    *reinterpret_cast<uint4 *>(y + start) = items;
    return;
  }
  if (start < n) y[start] = items.x;
  if (start + 1 < n) y[start + 1] = items.y;
  if (start + 2 < n) y[start + 2] = items.z;
}

// Prefix sums within every tile, and the sum of each. Four neighbouring elements a thread.
__global__ void __launch_bounds__(THREADS) scan_tiles(const unsigned int *__restrict__ x, unsigned int *__restrict__ y,
                                                      unsigned int *__restrict__ sums, size_t n) {
  const size_t start = blockIdx.x * static_cast<size_t>(TILE) + threadIdx.x * ITEMS;
  uint4 items = load(x, start, n);
  items.y += items.x;
  items.z += items.y;
  items.w += items.z;
  unsigned int tile_sum;
  const unsigned int before = block_inclusive_sum<THREADS>(items.w, &tile_sum) - items.w;
  items.x += before;
  items.y += before;
  items.z += before;
  items.w += before;
  store(y, start, n, items);
  if (threadIdx.x == 0) sums[blockIdx.x] = tile_sum;
}

// Prefix sums of the tiles' sums in place, by one block that goes through them and carries.
__global__ void __launch_bounds__(THREADS) scan_sums(unsigned int *sums, size_t tiles) {
  unsigned int carry = 0;
  for (size_t start = 0; start < tiles; start += THREADS) {
    const size_t tile = start + threadIdx.x;
    unsigned int step_sum;
    const unsigned int sum = block_inclusive_sum<THREADS>(tile < tiles ? sums[tile] : 0u, &step_sum);
    if (tile < tiles) sums[tile] = carry + sum;
    carry += step_sum;
  }
}

// Adds to every tile but the first what is in front of it; block b works on tile b + 1.
__global__ void __launch_bounds__(THREADS) add_offsets(unsigned int *__restrict__ y, const unsigned int *__restrict__ sums, size_t n) {
  const size_t start = (blockIdx.x + static_cast<size_t>(1)) * TILE + threadIdx.x * ITEMS;
  const unsigned int before = sums[blockIdx.x];
  uint4 items = load(y, start, n);
  items.x += before;
  items.y += before;
  items.z += before;
  items.w += before;
  store(y, start, n, items);
}
