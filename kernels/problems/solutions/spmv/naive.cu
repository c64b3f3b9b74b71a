/* gpubench
grid = "ceil_div(rows, 256)"
block = 256
*/
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
