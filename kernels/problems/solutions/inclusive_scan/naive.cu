/* gpubench
[[scratch]]
name = "sums"
bytes = "4 * ceil_div(n, 512)"

[[step]]
kernel = "add_pieces"
grid = "ceil_div(n, 512 * 64)"
block = 64
arguments = ["x", "sums", "n"]

[[step]]
kernel = "scan_sums"
grid = 1
block = 1
arguments = ["sums", "ceil_div(n, 512)"]

[[step]]
kernel = "scan_pieces"
grid = "ceil_div(n, 512 * 64)"
block = 64
arguments = ["x", "sums", "y", "n"]
*/
constexpr size_t PIECE = 512;

// The sum of each piece of 512 elements, one piece a thread.
__global__ void add_pieces(const unsigned int *x, unsigned int *sums, size_t n) {
  const size_t piece = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  unsigned int sum = 0;
  for (size_t i = piece * PIECE; i < n && i < (piece + 1) * PIECE; i++) sum += x[i];
  if (piece * PIECE < n) sums[piece] = sum;
}

// What is in front of each piece, by one thread.
__global__ void scan_sums(unsigned int *sums, size_t pieces) {
  unsigned int before = 0;
  for (size_t piece = 0; piece < pieces; piece++) {
    const unsigned int sum = sums[piece];
    sums[piece] = before;
    before += sum;
  }
}

// The same way through each piece again, from what is in front of it.
__global__ void scan_pieces(const unsigned int *x, const unsigned int *sums, unsigned int *y, size_t n) {
  const size_t piece = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (piece * PIECE >= n) return;
  unsigned int sum = sums[piece];
  for (size_t i = piece * PIECE; i < n && i < (piece + 1) * PIECE; i++) {
    sum += x[i];
    y[i] = sum;
  }
}
