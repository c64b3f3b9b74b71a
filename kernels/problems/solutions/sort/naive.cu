/* gpubench
[[scratch]]
name = "other"
bytes = "keys.bytes"

[[scratch]]
name = "places"
bytes = "4 * 16 * ceil_div(n, 512)"

[[step]]
kernel = "count"
grid = "ceil_div(n, 512 * 64)"
block = 64
arguments = ["keys", "places", "n", 0]

[[step]]
kernel = "scan"
grid = 1
block = 1
arguments = ["places", "16 * ceil_div(n, 512)"]

[[step]]
kernel = "scatter"
grid = "ceil_div(n, 512 * 64)"
block = 64
arguments = ["keys", "other", "places", "n", 0]

[[step]]
kernel = "count"
grid = "ceil_div(n, 512 * 64)"
block = 64
arguments = ["other", "places", "n", 4]

[[step]]
kernel = "scan"
grid = 1
block = 1
arguments = ["places", "16 * ceil_div(n, 512)"]

[[step]]
kernel = "scatter"
grid = "ceil_div(n, 512 * 64)"
block = 64
arguments = ["other", "sorted", "places", "n", 4]

[[step]]
kernel = "count"
grid = "ceil_div(n, 512 * 64)"
block = 64
arguments = ["sorted", "places", "n", 8]

[[step]]
kernel = "scan"
grid = 1
block = 1
arguments = ["places", "16 * ceil_div(n, 512)"]

[[step]]
kernel = "scatter"
grid = "ceil_div(n, 512 * 64)"
block = 64
arguments = ["sorted", "other", "places", "n", 8]

[[step]]
kernel = "count"
grid = "ceil_div(n, 512 * 64)"
block = 64
arguments = ["other", "places", "n", 12]

[[step]]
kernel = "scan"
grid = 1
block = 1
arguments = ["places", "16 * ceil_div(n, 512)"]

[[step]]
kernel = "scatter"
grid = "ceil_div(n, 512 * 64)"
block = 64
arguments = ["other", "sorted", "places", "n", 12]

[[step]]
kernel = "count"
grid = "ceil_div(n, 512 * 64)"
block = 64
arguments = ["sorted", "places", "n", 16]

[[step]]
kernel = "scan"
grid = 1
block = 1
arguments = ["places", "16 * ceil_div(n, 512)"]

[[step]]
kernel = "scatter"
grid = "ceil_div(n, 512 * 64)"
block = 64
arguments = ["sorted", "other", "places", "n", 16]

[[step]]
kernel = "count"
grid = "ceil_div(n, 512 * 64)"
block = 64
arguments = ["other", "places", "n", 20]

[[step]]
kernel = "scan"
grid = 1
block = 1
arguments = ["places", "16 * ceil_div(n, 512)"]

[[step]]
kernel = "scatter"
grid = "ceil_div(n, 512 * 64)"
block = 64
arguments = ["other", "sorted", "places", "n", 20]

[[step]]
kernel = "count"
grid = "ceil_div(n, 512 * 64)"
block = 64
arguments = ["sorted", "places", "n", 24]

[[step]]
kernel = "scan"
grid = 1
block = 1
arguments = ["places", "16 * ceil_div(n, 512)"]

[[step]]
kernel = "scatter"
grid = "ceil_div(n, 512 * 64)"
block = 64
arguments = ["sorted", "other", "places", "n", 24]

[[step]]
kernel = "count"
grid = "ceil_div(n, 512 * 64)"
block = 64
arguments = ["other", "places", "n", 28]

[[step]]
kernel = "scan"
grid = 1
block = 1
arguments = ["places", "16 * ceil_div(n, 512)"]

[[step]]
kernel = "scatter"
grid = "ceil_div(n, 512 * 64)"
block = 64
arguments = ["other", "sorted", "places", "n", 28]
*/
// Radix sort by four bits at a time, least significant first. A thread has a piece of 512 keys.
constexpr size_t PIECE = 512;
constexpr int DIGITS = 16;

// How often each digit occurs in a piece. The counts of one digit follow each other.
__global__ void count(const unsigned int *keys, unsigned int *places, size_t n, int shift) {
  const size_t piece = blockIdx.x * size_t(blockDim.x) + threadIdx.x, pieces = (n + PIECE - 1) / PIECE;
  if (piece >= pieces) return;
  unsigned int counts[DIGITS] = {};
  for (size_t i = piece * PIECE; i < n && i < (piece + 1) * PIECE; i++) counts[keys[i] >> shift & 15]++;
  for (int digit = 0; digit < DIGITS; digit++) places[digit * pieces + piece] = counts[digit];
}

// Where the first key of each digit and piece goes, by one thread.
__global__ void scan(unsigned int *places, size_t len) {
  unsigned int before = 0;
  for (size_t i = 0; i < len; i++) {
    const unsigned int here = places[i];
    places[i] = before;
    before += here;
  }
}

// Moves the keys of a piece in their order.
__global__ void scatter(const unsigned int *keys, unsigned int *moved, const unsigned int *places, size_t n, int shift) {
  const size_t piece = blockIdx.x * size_t(blockDim.x) + threadIdx.x, pieces = (n + PIECE - 1) / PIECE;
  if (piece >= pieces) return;
  unsigned int next[DIGITS];
  for (int digit = 0; digit < DIGITS; digit++) next[digit] = places[digit * pieces + piece];
  for (size_t i = piece * PIECE; i < n && i < (piece + 1) * PIECE; i++) moved[next[keys[i] >> shift & 15]++] = keys[i];
}
