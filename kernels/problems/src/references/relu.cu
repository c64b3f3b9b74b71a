// The expected elements, where they are too many for the CPU: the bits of those without a sign.
__global__ void by_sign(const unsigned int *__restrict__ x, unsigned int *__restrict__ y, size_t n) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < n) y[i] = x[i] >> 31 ? 0 : x[i];
}
