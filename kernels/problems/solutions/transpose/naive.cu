/* gpubench
grid = ["ceil_div(columns, 32)", "ceil_div(rows, 8)"]
block = [32, 8]
*/
// One element a thread: reads are neighbours, writes a whole row of the result apart.
__global__ void naive(const float *__restrict__ x, float *__restrict__ y, size_t rows, size_t columns) {
  const size_t column = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  const size_t row = blockIdx.y * static_cast<size_t>(blockDim.y) + threadIdx.y;
  if (row < rows && column < columns) y[column * rows + row] = x[row * columns + column];
}
