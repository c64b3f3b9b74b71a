/* gpubench
grid = "rows"
block = 32
*/
// One row a warp. Each turn finds the largest element that comes after the one found before: among
// equal elements the first column comes first.
__global__ void top_k(const float *x, float *values, unsigned int *columns, int width, int k) {
  x += blockIdx.x * size_t(width);
  values += blockIdx.x * size_t(k);
  columns += blockIdx.x * size_t(k);
  float last = 3.402823466e38f;
  int last_column = -1;
  for (int turn = 0; turn < k; turn++) {
    float best = -3.402823466e38f;
    int best_column = width;
    for (int column = threadIdx.x; column < width; column += 32) {
      const bool is_left = x[column] < last || (x[column] == last && column > last_column);
      if (is_left && x[column] > best) {
        best = x[column];
        best_column = column;
      }
    }
    for (int distance = 16; distance > 0; distance /= 2) {
      const float other = __shfl_xor_sync(0xffffffffu, best, distance);
      const int other_column = __shfl_xor_sync(0xffffffffu, best_column, distance);
      if (other > best || (other == best && other_column < best_column)) {
        best = other;
        best_column = other_column;
      }
    }
    last = best;
    last_column = best_column;
    if (threadIdx.x == 0) {
      values[turn] = best;
      columns[turn] = best_column;
    }
  }
}
