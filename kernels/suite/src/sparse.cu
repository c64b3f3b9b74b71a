#include "device/block.cuh"

// y = A x with A in compressed rows: the entries of row r are those from row_start[r] to row_start[r + 1].

// One row a thread. Neighbouring threads read entries far apart, and a long row keeps its warp waiting.
__global__ void row_per_thread(const unsigned int *__restrict__ row_start, const unsigned int *__restrict__ column,
                               const float *__restrict__ value, const float *__restrict__ x, float *__restrict__ y, size_t rows) {
  const size_t row = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (unsigned int i = row_start[row]; i < row_start[row + 1]; i++) sum += value[i] * x[column[i]];
  y[row] = sum;
}

// One row a warp: its lanes read neighbouring entries, and many of them idle in short rows.
__global__ void row_per_warp(const unsigned int *__restrict__ row_start, const unsigned int *__restrict__ column,
                             const float *__restrict__ value, const float *__restrict__ x, float *__restrict__ y, size_t rows) {
  const size_t row = blockIdx.x * static_cast<size_t>(blockDim.y) + threadIdx.y;
  if (row >= rows) return;
  const unsigned int end = row_start[row + 1];
  float sum = 0.0f;
  for (unsigned int i = row_start[row] + threadIdx.x; i < end; i += WARP) sum += value[i] * x[column[i]];
  sum = warp_reduce<Sum>(sum);
  if (threadIdx.x == 0) y[row] = sum;
}
