// The sparse matrix is that of the problem `spmv`.
#include "sparse.cu"

// The expected matrix, where it is too large for the CPU: one element a thread, from the last entry
// of its row to the first, in integers, which all factors are.
__global__ void in_integers_by_columns(const unsigned int *__restrict__ row_start, const unsigned int *__restrict__ column,
                                       const float *__restrict__ value, const float *__restrict__ x, float *__restrict__ y, size_t rows,
                                       size_t width) {
  const size_t at = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (at >= rows * width) return;
  const unsigned int first = row_start[at / width];
  int sum = 0;
  for (unsigned int i = row_start[at / width + 1]; i-- > first;) {
    sum += static_cast<int>(value[i]) * static_cast<int>(x[column[i] * width + at % width]);
  }
  y[at] = static_cast<float>(sum);
}
