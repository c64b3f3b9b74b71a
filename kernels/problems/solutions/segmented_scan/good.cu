/* gpubench
[[scratch]]
name = "sums"
bytes = "8 * ceil_div(n, 1024)"

[[step]]
kernel = "scan_tiles"
grid = "ceil_div(n, 1024)"
block = 256
arguments = ["x", "begins", "y", "sums", "n"]

[[step]]
kernel = "scan_sums"
grid = 1
block = 256
arguments = ["sums", "ceil_div(n, 1024)"]

[[step]]
kernel = "add_before"
grid = "ceil_div(n, 1024)"
block = 256
arguments = ["begins", "sums", "y", "n"]
*/
constexpr unsigned int ALL_LANES = 0xffffffffu;
constexpr int WARP = 32;
constexpr int THREADS = 256;
constexpr int WARPS = THREADS / WARP;
constexpr int ITEMS = 4;
constexpr int TILE = THREADS * ITEMS;

// The sum of the last segment of a stretch of elements, and whether that segment begins within it.
struct Tail {
  float sum;
  unsigned int begins;
};

__device__ inline Tail join(Tail before, Tail after) {
  return {after.begins ? after.sum : before.sum + after.sum, before.begins | after.begins};
}

// The tail of all threads before this one, and that of the whole block in `all`.
__device__ Tail tail_before(Tail tail, Tail *all) {
  __shared__ Tail of_warp[WARPS];
  const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
#pragma unroll
  for (int distance = 1; distance < WARP; distance *= 2) {
    const Tail before = {__shfl_up_sync(ALL_LANES, tail.sum, distance), __shfl_up_sync(ALL_LANES, tail.begins, distance)};
    if (lane >= distance) tail = join(before, tail);
  }
  if (lane == WARP - 1) of_warp[warp] = tail;
  __syncthreads();
  Tail before = {__shfl_up_sync(ALL_LANES, tail.sum, 1), __shfl_up_sync(ALL_LANES, tail.begins, 1)};
  if (lane == 0) before = {0.0f, 0u};
  Tail warps_before = {0.0f, 0u};
  *all = {0.0f, 0u};
#pragma unroll
  for (int other = 0; other < WARPS; other++) {
    if (other < warp) warps_before = join(warps_before, of_warp[other]);
    *all = join(*all, of_warp[other]);
  }
  __syncthreads();
  return join(warps_before, before);
}

// Sums within every tile, and the tail of each. Four neighbouring elements a thread: whole groups
// are one aligned load.
__global__ void __launch_bounds__(THREADS) scan_tiles(const float *__restrict__ x, const unsigned char *__restrict__ begins,
                                                      float *__restrict__ y, Tail *__restrict__ sums, size_t n) {
  const size_t start = blockIdx.x * static_cast<size_t>(TILE) + threadIdx.x * ITEMS;
  const bool whole = start + ITEMS <= n;
  float item[ITEMS] = {};
  unsigned char flag[ITEMS] = {};
  if (whole) {
    const float4 items = *reinterpret_cast<const float4 *>(x + start);
    const uchar4 flags = *reinterpret_cast<const uchar4 *>(begins + start);
    item[0] = items.x, item[1] = items.y, item[2] = items.z, item[3] = items.w;
    flag[0] = flags.x, flag[1] = flags.y, flag[2] = flags.z, flag[3] = flags.w;
  } else {
    for (int i = 0; i < ITEMS && start + i < n; i++) item[i] = x[start + i], flag[i] = begins[start + i];
  }
  Tail own = {0.0f, 0u}, all;
#pragma unroll
  for (int i = 0; i < ITEMS; i++) own = join(own, {item[i], flag[i]});
  Tail tail = tail_before(own, &all);
#pragma unroll
  for (int i = 0; i < ITEMS; i++) {
    tail = join(tail, {item[i], flag[i]});
    item[i] = tail.sum;
  }
  if (whole) {
    *reinterpret_cast<float4 *>(y + start) = make_float4(item[0], item[1], item[2], item[3]);
  } else {
    for (int i = 0; i < ITEMS && start + i < n; i++) y[start + i] = item[i];
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = all;
}

// Replaces the tail of each tile by the tail of all tiles before it: one block, which carries.
__global__ void __launch_bounds__(THREADS) scan_sums(Tail *sums, size_t tiles) {
  Tail carry = {0.0f, 0u};
  for (size_t start = 0; start < tiles; start += THREADS) {
    const size_t tile = start + threadIdx.x;
    Tail all;
    const Tail before = tail_before(tile < tiles ? sums[tile] : Tail{0.0f, 0u}, &all);
    if (tile < tiles) sums[tile] = join(carry, before);
    carry = join(carry, all);
  }
}

// Adds what is in front of a tile to its elements before the first beginning.
__global__ void __launch_bounds__(THREADS) add_before(const unsigned char *__restrict__ begins, const Tail *__restrict__ sums,
                                                      float *__restrict__ y, size_t n) {
  __shared__ unsigned int first;
  const size_t start = blockIdx.x * static_cast<size_t>(TILE);
  if (threadIdx.x == 0) first = TILE;
  __syncthreads();
  for (int i = threadIdx.x; i < TILE && start + i < n; i += THREADS) {
    if (begins[start + i]) {
      atomicMin(&first, static_cast<unsigned int>(i));
      break;
    }
  }
  __syncthreads();
  const float before = sums[blockIdx.x].sum;
  for (int i = threadIdx.x; i < first && start + i < n; i += THREADS) y[start + i] += before;
}
