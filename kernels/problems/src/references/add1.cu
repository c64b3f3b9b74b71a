// The expected result: four elements a thread, from the last to the first.
__global__ void add1_by_four(const float *__restrict__ x, float *__restrict__ y, size_t n) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  for (size_t j = 4 * i + 4; j-- > 4 * i;) {
    if (j < n) y[j] = 1.0f + x[j];
  }
}
