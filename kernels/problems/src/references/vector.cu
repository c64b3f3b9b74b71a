// The expected sums, where they are too many for the CPU. A double has more than twice the digits
// of a float, and two more: then rounding a sum twice gives what rounding it once would.
__global__ void add_in_double(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, size_t n) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < n) c[i] = static_cast<float>(static_cast<double>(a[i]) + static_cast<double>(b[i]));
}
