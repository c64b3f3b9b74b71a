/* gpubench
[[step]]
memset = "y"
value = 0

[[step]]
kernel = "multiply"
grid = ["ceil_div(value.len, 8 * 64)", "ceil_div(width, 32)"]
block = 256
arguments = ["row_start", "column", "value", "x", "y", "value.len", "rows", "width"]
*/
constexpr unsigned int ALL_LANES = 0xffffffffu;
constexpr int WARP = 32;
constexpr int ENTRIES = 64;

// A warp has 64 entries, whichever rows they are in, and 32 columns of the dense matrices, one a
// lane. So a long row is the work of many warps, and reads of a row of `x` are neighbours. Sums are
// added to `y`, as another warp may have other entries of the row.
__global__ void __launch_bounds__(256) multiply(const unsigned int *__restrict__ row_start, const unsigned int *__restrict__ column,
                                                const float *__restrict__ value, const float *__restrict__ x, float *__restrict__ y,
                                                size_t entries, size_t rows, size_t width) {
  const unsigned int lane = threadIdx.x % WARP;
  const size_t warp = (blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x) / WARP, start = warp * ENTRIES;
  if (start >= entries) return;
  const size_t k = blockIdx.y * static_cast<size_t>(WARP) + lane, end = start + ENTRIES < entries ? start + ENTRIES : entries;
  // The last row that starts at the first entry or before it.
  size_t row = 0, beyond = rows;
  while (beyond - row > 1) {
    const size_t middle = row + (beyond - row) / 2;
    if (row_start[middle] <= start) row = middle;
    else beyond = middle;
  }
  unsigned int next = row_start[row + 1];
  float sum = 0.0f;
  for (size_t group = start; group < end; group += WARP) {
    // Each lane reads one entry, and hands it to the others in turn.
    const bool is_entry = group + lane < end;
    const unsigned int own_column = is_entry ? column[group + lane] : 0;
    const float own_value = is_entry ? value[group + lane] : 0.0f;
    const int count = static_cast<int>(end - group < WARP ? end - group : WARP);
    for (int i = 0; i < count; i++) {
      while (group + i >= next) {
        if (k < width && sum != 0.0f) atomicAdd(&y[row * width + k], sum);
        sum = 0.0f;
        next = row_start[++row + 1];
      }
      const size_t from = __shfl_sync(ALL_LANES, own_column, i);
      const float factor = __shfl_sync(ALL_LANES, own_value, i);
      if (k < width) sum += factor * x[from * width + k];
    }
  }
  if (k < width) atomicAdd(&y[row * width + k], sum);
}
