/* gpubench
[[scratch]]
name = "tickets"
bytes = 8

[[scratch]]
name = "states"
bytes = "8 * ceil_div(n, 4096)"

[[step]]
memset = "tickets"
value = 0

[[step]]
memset = "states"
value = 0

[[step]]
kernel = "scan"
grid = "ceil_div(n, 4096)"
block = 256
arguments = ["x", "y", "tickets", "states", "n"]
*/
constexpr unsigned int ALL_LANES = 0xffffffffu;
constexpr int WARP = 32;
constexpr int THREADS = 256;
constexpr int WARPS = THREADS / WARP;
constexpr int ITEMS = 16;
constexpr int TILE = THREADS * ITEMS;

// The state of a tile: nothing yet, its own sum, or the sum of all tiles up to it. The kind and the
// number are one word, so that nobody reads one without the other.
constexpr unsigned long long OWN = 1ull << 32;
constexpr unsigned long long ALL = 2ull << 32;

__device__ inline float number(unsigned long long state) { return __uint_as_float(static_cast<unsigned int>(state)); }

__device__ inline void publish(unsigned long long *states, unsigned int tile, unsigned long long kind, float sum) {
  atomicExch(&states[tile], kind | __float_as_uint(sum));
}

// The sum of all tiles before `tile`: a warp looks back over 32 tiles at once (Merrill and Garland,
// 2016). Tiles are handed out in order, so those before are being worked on or done.
__device__ float sum_before(unsigned long long *states, unsigned int tile) {
  float sum = 0.0f;
  for (long long last = static_cast<long long>(tile) - 1; last >= 0; last -= WARP) {
    const long long other = last - threadIdx.x;
    unsigned long long state = ALL;
    if (other >= 0) {
      do state = atomicAdd(&states[other], 0ull);
      while (state == 0);
    }
    // What lies beyond the nearest complete sum is part of it.
    const unsigned int complete = __ballot_sync(ALL_LANES, (state & ALL) != 0);
    const int nearest = complete == 0 ? WARP : __ffs(complete) - 1;
    float own = other >= 0 && static_cast<int>(threadIdx.x) <= nearest ? number(state) : 0.0f;
    for (int distance = WARP / 2; distance > 0; distance /= 2) own += __shfl_xor_sync(ALL_LANES, own, distance);
    sum += own;
    if (complete != 0) break;
  }
  return sum;
}

// One pass over memory. A thread has ITEMS neighbouring elements, which pass through shared memory
// so that loads and stores of a warp are neighbours.
__global__ void __launch_bounds__(THREADS) scan(const float *__restrict__ x, float *__restrict__ y, unsigned int *tickets,
                                                unsigned long long *states, size_t n) {
  // A word more after every 16, so that threads 16 words apart use different banks.
  __shared__ float items[TILE + THREADS];
  __shared__ float of_warp[WARPS];
  __shared__ float before_tile;
  __shared__ unsigned int ticket;
  if (threadIdx.x == 0) ticket = atomicAdd(tickets, 1u);
  __syncthreads();
  const unsigned int tile = ticket, lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
  const size_t start = tile * static_cast<size_t>(TILE);
  for (int i = threadIdx.x; i < TILE; i += THREADS) items[i + i / ITEMS] = start + i < n ? x[start + i] : 0.0f;
  __syncthreads();
  float *const own = items + threadIdx.x * (ITEMS + 1);
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < ITEMS; i++) {
    sum += own[i];
    own[i] = sum;
  }
  float scanned = sum;
#pragma unroll
  for (int distance = 1; distance < WARP; distance *= 2) {
    const float other = __shfl_up_sync(ALL_LANES, scanned, distance);
    if (lane >= distance) scanned += other;
  }
  if (lane == WARP - 1) of_warp[warp] = scanned;
  __syncthreads();
  float before = scanned - sum, all = 0.0f;
#pragma unroll
  for (int other = 0; other < WARPS; other++) {
    if (other < warp) before += of_warp[other];
    all += of_warp[other];
  }
  if (warp == 0) {
    if (lane == 0) publish(states, tile, tile == 0 ? ALL : OWN, all);
    const float sum_of_tiles = sum_before(states, tile);
    if (lane == 0) {
      if (tile != 0) publish(states, tile, ALL, sum_of_tiles + all);
      before_tile = sum_of_tiles;
    }
  }
  __syncthreads();
  before += before_tile;
#pragma unroll
  for (int i = 0; i < ITEMS; i++) own[i] += before;
  __syncthreads();
  for (int i = threadIdx.x; i < TILE; i += THREADS) {
    if (start + i < n) y[start + i] = items[i + i / ITEMS];
  }
}
