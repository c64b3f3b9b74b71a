/* gpubench
grid = "ceil_div(rows, 64)"
block = 64
*/
// One row a thread.
__global__ void argmax(const float *x, int *index, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  x += row * size_t(columns);
  int best = 0;
  for (int i = 1; i < columns; i++) {
    if (x[i] > x[best]) best = i;
  }
  index[row] = best;
}
