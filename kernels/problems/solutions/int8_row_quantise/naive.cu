/* gpubench
kernel = "naive"
grid = "ceil_div(rows, 128)"
block = 128
arguments = ["x", "q", "scale", "rows", "columns"]
*/

// One row a thread.
__global__ void naive(const float *__restrict__ x, signed char *__restrict__ q, float *__restrict__ scale, size_t rows,
                      size_t columns) {
  const size_t row = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (row >= rows) return;
  float largest = 0.0f;
  for (size_t i = 0; i < columns; i++) largest = fmaxf(largest, fabsf(x[row * columns + i]));
  const float step = largest / 127.0f;
  scale[row] = step;
  for (size_t i = 0; i < columns; i++) {
    q[row * columns + i] = step == 0.0f ? 0 : static_cast<signed char>(rintf(x[row * columns + i] / step));
  }
}
