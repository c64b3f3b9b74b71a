// The expected transpose, where the matrix is too large for the CPU: one element of the result a
// thread, wherever it comes from.
__global__ void gather(const float *__restrict__ x, float *__restrict__ y, size_t rows, size_t columns) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < rows * columns) y[i] = x[i % rows * columns + i / rows];
}
