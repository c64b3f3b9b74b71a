// y = A x with A in compressed rows: the entries of row r are those from row_start[r] to row_start[r + 1].

// The expected vector, where the matrix is too large for the CPU: one row a block of 64 threads, in integers, which all
// factors are.
__global__ void in_integers(const unsigned int *__restrict__ row_start, const unsigned int *__restrict__ column,
                            const float *__restrict__ value, const float *__restrict__ x, float *__restrict__ y) {
  __shared__ int sums[64];
  int sum = 0;
  for (unsigned int i = row_start[blockIdx.x] + threadIdx.x; i < row_start[blockIdx.x + 1]; i += 64) {
    sum += static_cast<int>(value[i]) * static_cast<int>(x[column[i]]);
  }
  sums[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int other = 1; other < 64; other++) sum += sums[other];
  y[blockIdx.x] = static_cast<float>(sum);
}
