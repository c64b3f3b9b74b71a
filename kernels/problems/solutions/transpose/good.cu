/* gpubench
grid = ["ceil_div(columns, 32)", "ceil_div(rows, 32)"]
block = [32, 8]
*/
constexpr int TILE = 32;
constexpr int LINES = 8;

// A tile a block, turned in shared memory so that reads and writes are neighbours. The tile's rows
// are one word longer than needed: the words of a column then lie in different banks.
__global__ void __launch_bounds__(TILE *LINES) tiled(const float *__restrict__ x, float *__restrict__ y, size_t rows, size_t columns) {
  __shared__ float tile[TILE][TILE + 1];
  const size_t left = blockIdx.x * static_cast<size_t>(TILE), top = blockIdx.y * static_cast<size_t>(TILE);
  for (int line = threadIdx.y; line < TILE; line += LINES) {
    const size_t row = top + line, column = left + threadIdx.x;
    if (row < rows && column < columns) tile[line][threadIdx.x] = x[row * columns + column];
  }
  __syncthreads();
  for (int line = threadIdx.y; line < TILE; line += LINES) {
    const size_t column = left + line, row = top + threadIdx.x;
    if (row < rows && column < columns) y[column * rows + row] = tile[threadIdx.x][line];
  }
}
