/* gpubench
[[scratch]]
name = "sums"
bytes = "8 * c.len"

[[step]]
memset = "sums"
value = 0

[[step]]
kernel = "multiply"
grid = ["ceil_div(c.len, 1024)", "ceil_div(n, 1024)"]
block = 256
arguments = ["a", "b", "sums", "n"]

[[step]]
kernel = "reduce"
grid = "ceil_div(c.len, 256)"
block = 256
arguments = ["sums", "c", "c.len"]
*/
constexpr unsigned long long P = 2013265921ull;
constexpr int THREADS = 256;
constexpr int EACH = 4;
constexpr int TILE = THREADS * EACH;

// Sums of the products of a tile of `a` for a tile of coefficients. A thread has four neighbouring
// coefficients: each word of shared memory serves four of them. Products are below 2^62, so a sum
// of two needs no remainder, and subtracting a multiple of P keeps the sum below 2^63.
__global__ void __launch_bounds__(THREADS) multiply(const unsigned int *__restrict__ a, const unsigned int *__restrict__ b,
                                                    unsigned long long *__restrict__ sums, int n) {
  const int first = blockIdx.x * TILE, start = blockIdx.y * TILE;
  // The products of these tiles are all beyond the end of one of the polynomials.
  if (first + TILE <= start || first >= start + TILE + n) return;
  __shared__ unsigned int left[TILE];
  __shared__ unsigned int right[2 * TILE];
  for (int i = threadIdx.x; i < TILE; i += THREADS) left[i] = start + i < n ? a[start + i] : 0;
  // `right[i]` is the factor of the coefficient that is `i - TILE` after that of the same place.
  for (int i = threadIdx.x; i < 2 * TILE; i += THREADS) {
    const int from = first - start - TILE + i;
    right[i] = 0 <= from && from < n ? b[from] : 0;
  }
  __syncthreads();
  const int own = threadIdx.x * EACH + TILE;
  unsigned long long sum[EACH] = {};
  unsigned int factor[EACH];
#pragma unroll
  for (int i = 1; i < EACH; i++) factor[i] = right[own + i];
  for (int j = 0; j < TILE; j++) {
    const unsigned long long term = left[j];
    factor[0] = right[own - j];
#pragma unroll
    for (int i = 0; i < EACH; i++) {
      sum[i] += term * factor[i];
      if (sum[i] >= 2 * P * P) sum[i] -= 2 * P * P;
    }
#pragma unroll
    for (int i = EACH - 1; i > 0; i--) factor[i] = factor[i - 1];
  }
#pragma unroll
  for (int i = 0; i < EACH; i++) {
    const int at = first + threadIdx.x * EACH + i;
    if (at < 2 * n - 1) atomicAdd(&sums[at], sum[i] % P);
  }
}

__global__ void reduce(const unsigned long long *__restrict__ sums, unsigned int *__restrict__ c, int len) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < len) c[i] = static_cast<unsigned int>(sums[i] % P);
}
