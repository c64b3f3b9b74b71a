/* gpubench
kernel = "threads_per_row<8>"
grid = "ceil_div(8 * rows, 256)"
block = 256
arguments = ["row_start", "column", "value", "x", "y", "rows"]
*/
// y = A x with A in compressed rows: the entries of row r are those from row_start[r] to
// row_start[r + 1].

constexpr unsigned int ALL_LANES = 0xffffffffu;
constexpr int WARP = 32;

struct Sum {
  template <class T>
  __device__ static T combine(T a, T b) { return a + b; }
};

// The values of each group of GROUP neighbouring lanes combined, in every lane of it. All lanes of
// the warp must call it.
template <class Operation, int GROUP, class T>
__device__ T group_reduce(T value) {
#pragma unroll
  for (int distance = GROUP / 2; distance > 0; distance /= 2) {
    value = Operation::combine(value, __shfl_xor_sync(ALL_LANES, value, distance));
  }
  return value;
}

// One row for a group of neighbouring threads, a part of a warp: they read neighbouring entries.
// Groups as large as rows are on average leave few threads idle.
template <int THREADS>
__global__ void threads_per_row(const unsigned int *__restrict__ row_start, const unsigned int *__restrict__ column,
                                const float *__restrict__ value, const float *__restrict__ x, float *__restrict__ y, size_t rows) {
  static_assert(WARP % THREADS == 0, "a warp is whole groups");
  const size_t row = (blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x) / THREADS;
  const unsigned int member = threadIdx.x % THREADS;
  float sum = 0.0f;
  if (row < rows) {
    for (unsigned int i = row_start[row] + member; i < row_start[row + 1]; i += THREADS) sum += value[i] * x[column[i]];
  }
  // All lanes of the warp take part, those beyond the last row too.
  sum = group_reduce<Sum, THREADS>(sum);
  if (row < rows && member == 0) y[row] = sum;
}
