/* gpubench
[[scratch]]
name = "other"
bytes = "edges.bytes"

[[step]]
kernel = "twice_as_far"
grid = ["ceil_div(n, 32)", "ceil_div(n, 8)"]
block = [32, 8]
arguments = ["edges", "other", "n"]

[[step]]
kernel = "twice_as_far"
grid = ["ceil_div(n, 32)", "ceil_div(n, 8)"]
block = [32, 8]
arguments = ["other", "distances", "n"]

[[step]]
kernel = "twice_as_far"
grid = ["ceil_div(n, 32)", "ceil_div(n, 8)"]
block = [32, 8]
arguments = ["distances", "other", "n"]

[[step]]
kernel = "twice_as_far"
grid = ["ceil_div(n, 32)", "ceil_div(n, 8)"]
block = [32, 8]
arguments = ["other", "distances", "n"]

[[step]]
kernel = "twice_as_far"
grid = ["ceil_div(n, 32)", "ceil_div(n, 8)"]
block = [32, 8]
arguments = ["distances", "other", "n"]

[[step]]
kernel = "twice_as_far"
grid = ["ceil_div(n, 32)", "ceil_div(n, 8)"]
block = [32, 8]
arguments = ["other", "distances", "n"]

[[step]]
kernel = "twice_as_far"
grid = ["ceil_div(n, 32)", "ceil_div(n, 8)"]
block = [32, 8]
arguments = ["distances", "other", "n"]

[[step]]
kernel = "twice_as_far"
grid = ["ceil_div(n, 32)", "ceil_div(n, 8)"]
block = [32, 8]
arguments = ["other", "distances", "n"]

[[step]]
kernel = "twice_as_far"
grid = ["ceil_div(n, 32)", "ceil_div(n, 8)"]
block = [32, 8]
arguments = ["distances", "other", "n"]

[[step]]
kernel = "twice_as_far"
grid = ["ceil_div(n, 32)", "ceil_div(n, 8)"]
block = [32, 8]
arguments = ["other", "distances", "n"]

[[step]]
kernel = "twice_as_far"
grid = ["ceil_div(n, 32)", "ceil_div(n, 8)"]
block = [32, 8]
arguments = ["distances", "other", "n"]

[[step]]
kernel = "twice_as_far"
grid = ["ceil_div(n, 32)", "ceil_div(n, 8)"]
block = [32, 8]
arguments = ["other", "distances", "n"]
*/
// From shortest paths of up to 2^i edges to those of up to 2^(i + 1). Twelve times that are 4096
// edges, as many as a path can have.
__global__ void twice_as_far(const float *paths, float *longer, int n) {
  const int to = blockIdx.x * blockDim.x + threadIdx.x, from = blockIdx.y * blockDim.y + threadIdx.y;
  if (from >= n || to >= n) return;
  float least = paths[from * size_t(n) + to];
  for (int over = 0; over < n; over++) least = fminf(least, paths[from * size_t(n) + over] + paths[over * size_t(n) + to]);
  longer[from * size_t(n) + to] = least;
}
