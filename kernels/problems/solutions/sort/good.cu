/* gpubench
[[scratch]]
name = "other"
bytes = "keys.bytes"

[[scratch]]
name = "places"
bytes = "4 * 256 * ceil_div(n, 2048)"

[[scratch]]
name = "totals"
bytes = "4 * 256"

[[step]]
kernel = "count"
grid = "ceil_div(n, 2048)"
block = 256
arguments = ["keys", "places", "n", 0]

[[step]]
kernel = "scan"
grid = 32
block = 256
arguments = ["places", "totals", "ceil_div(n, 2048)"]

[[step]]
kernel = "scatter"
grid = "ceil_div(n, 2048)"
block = 256
arguments = ["keys", "other", "places", "totals", "n", 0]

[[step]]
kernel = "count"
grid = "ceil_div(n, 2048)"
block = 256
arguments = ["other", "places", "n", 8]

[[step]]
kernel = "scan"
grid = 32
block = 256
arguments = ["places", "totals", "ceil_div(n, 2048)"]

[[step]]
kernel = "scatter"
grid = "ceil_div(n, 2048)"
block = 256
arguments = ["other", "sorted", "places", "totals", "n", 8]

[[step]]
kernel = "count"
grid = "ceil_div(n, 2048)"
block = 256
arguments = ["sorted", "places", "n", 16]

[[step]]
kernel = "scan"
grid = 32
block = 256
arguments = ["places", "totals", "ceil_div(n, 2048)"]

[[step]]
kernel = "scatter"
grid = "ceil_div(n, 2048)"
block = 256
arguments = ["sorted", "other", "places", "totals", "n", 16]

[[step]]
kernel = "count"
grid = "ceil_div(n, 2048)"
block = 256
arguments = ["other", "places", "n", 24]

[[step]]
kernel = "scan"
grid = 32
block = 256
arguments = ["places", "totals", "ceil_div(n, 2048)"]

[[step]]
kernel = "scatter"
grid = "ceil_div(n, 2048)"
block = 256
arguments = ["other", "sorted", "places", "totals", "n", 24]
*/
// Radix sort by eight bits at a time, least significant first. A block has a tile of 2048 keys, and
// a warp of it 256 neighbouring ones.
constexpr unsigned int ALL_LANES = 0xffffffffu;
constexpr int WARP = 32;
constexpr int THREADS = 256;
constexpr int WARPS = THREADS / WARP;
constexpr int DIGITS = 256;
constexpr int ITEMS = 8;
constexpr int TILE = THREADS * ITEMS;

// How often each digit occurs in a tile. The counts of one digit follow each other.
__global__ void __launch_bounds__(THREADS) count(const unsigned int *__restrict__ keys, unsigned int *__restrict__ places, size_t n,
                                                 int shift) {
  __shared__ unsigned int counts[DIGITS];
  counts[threadIdx.x] = 0;
  __syncthreads();
  const size_t start = blockIdx.x * static_cast<size_t>(TILE);
  for (int i = threadIdx.x; i < TILE; i += THREADS) {
    if (start + i < n) atomicAdd(&counts[keys[start + i] >> shift & (DIGITS - 1)], 1u);
  }
  __syncthreads();
  places[threadIdx.x * static_cast<size_t>(gridDim.x) + blockIdx.x] = counts[threadIdx.x];
}

// The sum of the values of this lane and the lanes before it.
__device__ inline unsigned int warp_sum(unsigned int sum) {
#pragma unroll
  for (int distance = 1; distance < WARP; distance *= 2) {
    const unsigned int before = __shfl_up_sync(ALL_LANES, sum, distance);
    if (threadIdx.x % WARP >= distance) sum += before;
  }
  return sum;
}

// The sum of the values of the threads before this one.
__device__ unsigned int sum_before(unsigned int value) {
  __shared__ unsigned int of_warp[WARPS];
  const int warp = threadIdx.x / WARP;
  const unsigned int sum = warp_sum(value);
  if (threadIdx.x % WARP == WARP - 1) of_warp[warp] = sum;
  __syncthreads();
  unsigned int before = sum - value;
  for (int other = 0; other < warp; other++) before += of_warp[other];
  return before;
}

// How many keys of a digit are in the tiles before each, and in all tiles: one digit a warp.
__global__ void __launch_bounds__(THREADS) scan(unsigned int *places, unsigned int *totals, size_t tiles) {
  const unsigned int digit = (blockIdx.x * THREADS + threadIdx.x) / WARP, lane = threadIdx.x % WARP;
  places += digit * tiles;
  unsigned int carry = 0;
  for (size_t start = 0; start < tiles; start += WARP) {
    const size_t tile = start + lane;
    const unsigned int own = tile < tiles ? places[tile] : 0u;
    const unsigned int sum = warp_sum(own);
    if (tile < tiles) places[tile] = carry + sum - own;
    carry += __shfl_sync(ALL_LANES, sum, WARP - 1);
  }
  if (lane == 0) totals[digit] = carry;
}

// Moves the keys of a tile in their order. Lanes with the same digit find each other, and the warp
// counts on for the next 32 keys.
__global__ void __launch_bounds__(THREADS) scatter(const unsigned int *__restrict__ keys, unsigned int *__restrict__ moved,
                                                   const unsigned int *__restrict__ places, const unsigned int *__restrict__ totals,
                                                   size_t n, int shift) {
  __shared__ unsigned int counts[WARPS][DIGITS];
  __shared__ unsigned int first[DIGITS];
  const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
  const unsigned int smaller = sum_before(totals[threadIdx.x]);
  first[threadIdx.x] = smaller + places[threadIdx.x * static_cast<size_t>(gridDim.x) + blockIdx.x];
  for (int i = 0; i < WARPS; i++) counts[i][threadIdx.x] = 0;
  __syncthreads();
  const size_t start = blockIdx.x * static_cast<size_t>(TILE) + warp * (WARP * ITEMS) + lane;
  unsigned int key[ITEMS], rank[ITEMS];
#pragma unroll
  for (int i = 0; i < ITEMS; i++) {
    const bool is_key = start + i * WARP < n;
    key[i] = is_key ? keys[start + i * WARP] : 0xffffffffu;
    // Places beyond the end have a digit that no key has.
    const unsigned int digit = is_key ? key[i] >> shift & (DIGITS - 1) : DIGITS;
    const unsigned int equal = __match_any_sync(ALL_LANES, digit);
    const unsigned int before = __popc(equal & ((1u << lane) - 1));
    rank[i] = is_key ? counts[warp][digit] + before : 0;
    __syncwarp();
    if (is_key && before == 0) counts[warp][digit] += __popc(equal);
    __syncwarp();
  }
  __syncthreads();
  unsigned int of_warps = 0;
  for (int i = 0; i < WARPS; i++) {
    const unsigned int own = counts[i][threadIdx.x];
    counts[i][threadIdx.x] = of_warps;
    of_warps += own;
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < ITEMS; i++) {
    const unsigned int digit = key[i] >> shift & (DIGITS - 1);
    if (start + i * WARP < n) moved[first[digit] + counts[warp][digit] + rank[i]] = key[i];
  }
}
