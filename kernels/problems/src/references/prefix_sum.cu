// The expected sums, where the vector is too long for the CPU, in integers, which the elements are:
// one thread a piece adds it up, one thread the sums of the pieces, and one a piece goes through it
// again.
__global__ void add_pieces(const float *__restrict__ x, int *__restrict__ sums, size_t n, size_t piece) {
  const size_t start = (blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x) * piece;
  if (start >= n) return;
  int sum = 0;
  for (size_t i = start; i < n && i < start + piece; i++) sum += static_cast<int>(x[i]);
  sums[start / piece] = sum;
}

__global__ void add_before(int *sums, size_t pieces) {
  int before = 0;
  for (size_t i = 0; i < pieces; i++) {
    const int sum = sums[i];
    sums[i] = before;
    before += sum;
  }
}

__global__ void scan_pieces(const float *__restrict__ x, const int *__restrict__ before, float *__restrict__ y, size_t n, size_t piece) {
  const size_t start = (blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x) * piece;
  if (start >= n) return;
  int sum = before[start / piece];
  for (size_t i = start; i < n && i < start + piece; i++) {
    sum += static_cast<int>(x[i]);
    y[i] = static_cast<float>(sum);
  }
}
