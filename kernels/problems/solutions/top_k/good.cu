/* gpubench
grid = "rows"
block = 256
shared = "8 * next_power_of_two(k)"
*/
constexpr unsigned int ALL_LANES = 0xffffffffu;
constexpr int THREADS = 256;
constexpr int DIGITS = 256;

// A number whose order among unsigned numbers is that of the values.
__device__ inline unsigned int ordered(float value) {
  const unsigned int bits = __float_as_uint(value);
  return bits ^ (bits >> 31 ? 0xffffffffu : 0x80000000u);
}

__device__ inline float value_of(unsigned int key) {
  return __uint_as_float(key ^ (key >> 31 ? 0x80000000u : 0xffffffffu));
}

// One row a block. Radix selection finds the k-th largest key, eight bits at a time from the most
// significant, while the row is in the cache. Then all larger keys and as many equal ones as fit
// are collected and sorted.
__global__ void __launch_bounds__(THREADS) top_k(const float *__restrict__ x, float *__restrict__ values,
                                                 unsigned int *__restrict__ columns, int width, int k) {
  extern __shared__ unsigned long long found[];
  __shared__ unsigned int counts[DIGITS];
  __shared__ unsigned int known, wanted, larger, equal;
  x += blockIdx.x * static_cast<size_t>(width);
  values += blockIdx.x * static_cast<size_t>(k);
  columns += blockIdx.x * static_cast<size_t>(k);
  if (threadIdx.x == 0) known = 0, wanted = k, larger = 0, equal = 0;
  for (int shift = 24; shift >= 0; shift -= 8) {
    counts[threadIdx.x] = 0;
    __syncthreads();
    const unsigned int high = known;
    for (int i = threadIdx.x; i < width; i += THREADS) {
      const unsigned int key = ordered(x[i]);
      // Shifted twice: a shift by 32 is undefined.
      if ((key ^ high) >> shift >> 8 == 0) atomicAdd(&counts[key >> shift & (DIGITS - 1)], 1u);
    }
    __syncthreads();
    if (threadIdx.x < 32) {
      // A lane has eight digits, the first lane the largest.
      const int first = DIGITS - 8 * (threadIdx.x + 1);
      unsigned int own = 0;
      for (int i = 0; i < 8; i++) own += counts[first + i];
      unsigned int sum = own;
      for (int distance = 1; distance < 32; distance *= 2) {
        const unsigned int before = __shfl_up_sync(ALL_LANES, sum, distance);
        if (threadIdx.x >= distance) sum += before;
      }
      const unsigned int rank = wanted;
      __syncwarp();
      if (sum - own < rank && rank <= sum) {
        unsigned int left = rank - (sum - own);
        int digit = first + 7;
        while (counts[digit] < left) left -= counts[digit--];
        known = high | static_cast<unsigned int>(digit) << shift;
        wanted = left;
      }
    }
    __syncthreads();
  }
  const unsigned int least = known, equals = wanted;
  int size = 1;
  while (size < k) size *= 2;
  for (int i = threadIdx.x; i < size; i += THREADS) found[i] = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < width; i += THREADS) {
    const unsigned int key = ordered(x[i]);
    if (key < least) continue;
    unsigned int place = k;
    if (key > least) {
      place = atomicAdd(&larger, 1u);
    } else {
      const unsigned int turn = atomicAdd(&equal, 1u);
      if (turn < equals) place = k - 1 - turn;
    }
    if (place < k) found[place] = static_cast<unsigned long long>(key) << 32 | static_cast<unsigned int>(i);
  }
  // A bitonic sort, the largest first.
  for (int length = 2; length <= size; length *= 2) {
    for (int distance = length / 2; distance > 0; distance /= 2) {
      __syncthreads();
      for (int i = threadIdx.x; i < size; i += THREADS) {
        const int other = i ^ distance;
        if (other < i) continue;
        const unsigned long long one = found[i], two = found[other];
        if ((one < two) == ((i & length) == 0)) found[i] = two, found[other] = one;
      }
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < k; i += THREADS) {
    values[i] = value_of(static_cast<unsigned int>(found[i] >> 32));
    columns[i] = static_cast<unsigned int>(found[i]);
  }
}
