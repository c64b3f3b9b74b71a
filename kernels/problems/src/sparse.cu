#include "device/block.cuh"

// y = A x with A in compressed rows: the entries of row r are those from row_start[r] to
// row_start[r + 1].

// One row a thread. Neighbouring threads read entries far apart, and a long row keeps its warp
// waiting.
__global__ void thread_per_row(const unsigned int *__restrict__ row_start, const unsigned int *__restrict__ column,
                               const float *__restrict__ value, const float *__restrict__ x, float *__restrict__ y, size_t rows) {
  const size_t row = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (unsigned int i = row_start[row]; i < row_start[row + 1]; i++) sum += value[i] * x[column[i]];
  y[row] = sum;
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
