/* gpubench
[[scratch]]
name = "other"
bytes = "edges.bytes"

[[scratch]]
name = "changed"
bytes = "4 * 13"

[[step]]
memset = "changed"
value = 0

[[step]]
kernel = "twice_as_far"
grid = ["ceil_div(n, 64)", "ceil_div(n, 64)"]
block = 256
arguments = ["edges", "other", "changed", 0, "n"]

[[step]]
kernel = "twice_as_far"
grid = ["ceil_div(n, 64)", "ceil_div(n, 64)"]
block = 256
arguments = ["other", "distances", "changed", 1, "n"]

[[step]]
kernel = "twice_as_far"
grid = ["ceil_div(n, 64)", "ceil_div(n, 64)"]
block = 256
arguments = ["distances", "other", "changed", 2, "n"]

[[step]]
kernel = "twice_as_far"
grid = ["ceil_div(n, 64)", "ceil_div(n, 64)"]
block = 256
arguments = ["other", "distances", "changed", 3, "n"]

[[step]]
kernel = "twice_as_far"
grid = ["ceil_div(n, 64)", "ceil_div(n, 64)"]
block = 256
arguments = ["distances", "other", "changed", 4, "n"]

[[step]]
kernel = "twice_as_far"
grid = ["ceil_div(n, 64)", "ceil_div(n, 64)"]
block = 256
arguments = ["other", "distances", "changed", 5, "n"]

[[step]]
kernel = "twice_as_far"
grid = ["ceil_div(n, 64)", "ceil_div(n, 64)"]
block = 256
arguments = ["distances", "other", "changed", 6, "n"]

[[step]]
kernel = "twice_as_far"
grid = ["ceil_div(n, 64)", "ceil_div(n, 64)"]
block = 256
arguments = ["other", "distances", "changed", 7, "n"]

[[step]]
kernel = "twice_as_far"
grid = ["ceil_div(n, 64)", "ceil_div(n, 64)"]
block = 256
arguments = ["distances", "other", "changed", 8, "n"]

[[step]]
kernel = "twice_as_far"
grid = ["ceil_div(n, 64)", "ceil_div(n, 64)"]
block = 256
arguments = ["other", "distances", "changed", 9, "n"]

[[step]]
kernel = "twice_as_far"
grid = ["ceil_div(n, 64)", "ceil_div(n, 64)"]
block = 256
arguments = ["distances", "other", "changed", 10, "n"]

[[step]]
kernel = "twice_as_far"
grid = ["ceil_div(n, 64)", "ceil_div(n, 64)"]
block = 256
arguments = ["other", "distances", "changed", 11, "n"]
*/
constexpr int SIDE = 16;
constexpr int EACH = 4;
constexpr int TILE = SIDE * EACH;
constexpr float FAR = 1e30f;

// From shortest paths of up to 2^turn edges to those of up to 2^(turn + 1). Twelve turns are 4096
// edges, as many as a path can have. This is a product of matrices with minima for sums and sums
// for products: 4 by 4 elements a thread, from tiles in shared memory.
//
// If a turn changes nothing, none after it does, and both matrices are the same from then on.
__global__ void __launch_bounds__(SIDE *SIDE) twice_as_far(const float *__restrict__ paths, float *__restrict__ longer,
                                                           unsigned int *changed, int turn, int n) {
  // The first two turns fill both matrices.
  if (turn >= 2 && changed[turn - 1] == 0) return;
  // Columns of the left tile are apart by one word more, for different banks.
  __shared__ float left[TILE][SIDE + 1];
  __shared__ float right[SIDE][TILE];
  const int x = threadIdx.x % SIDE, y = threadIdx.x / SIDE;
  const int column = blockIdx.x * TILE + x, row = blockIdx.y * TILE + y;
  float before[EACH][EACH], least[EACH][EACH];
#pragma unroll
  for (int i = 0; i < EACH; i++) {
#pragma unroll
    for (int j = 0; j < EACH; j++) {
      const int from = row + i * SIDE, to = column + j * SIDE;
      before[i][j] = least[i][j] = from < n && to < n ? paths[from * static_cast<size_t>(n) + to] : FAR;
    }
  }
  for (int start = 0; start < n; start += SIDE) {
#pragma unroll
    for (int i = 0; i < EACH; i++) {
      const int from = row + i * SIDE, to = column + i * SIDE;
      left[y + i * SIDE][x] = from < n && start + x < n ? paths[from * static_cast<size_t>(n) + start + x] : FAR;
      right[y][x + i * SIDE] = start + y < n && to < n ? paths[(start + y) * static_cast<size_t>(n) + to] : FAR;
    }
    __syncthreads();
#pragma unroll
    for (int over = 0; over < SIDE; over++) {
      float first[EACH], second[EACH];
#pragma unroll
      for (int i = 0; i < EACH; i++) {
        first[i] = left[y + i * SIDE][over];
        second[i] = right[over][x + i * SIDE];
      }
#pragma unroll
      for (int i = 0; i < EACH; i++) {
#pragma unroll
        for (int j = 0; j < EACH; j++) least[i][j] = fminf(least[i][j], first[i] + second[j]);
      }
    }
    __syncthreads();
  }
  bool is_shorter = false;
#pragma unroll
  for (int i = 0; i < EACH; i++) {
#pragma unroll
    for (int j = 0; j < EACH; j++) {
      const int from = row + i * SIDE, to = column + j * SIDE;
      if (from >= n || to >= n) continue;
      longer[from * static_cast<size_t>(n) + to] = least[i][j];
      is_shorter |= least[i][j] < before[i][j];
    }
  }
  if (is_shorter) changed[turn] = 1;
}
