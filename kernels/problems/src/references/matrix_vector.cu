// The expected y = A x, where A is too large for the CPU: one row a block of 64 threads, in double.
__global__ void in_double(const float *__restrict__ a, const float *__restrict__ x, float *__restrict__ y, size_t k) {
  __shared__ double sums[64];
  double sum = 0.0;
  for (size_t i = threadIdx.x; i < k; i += 64) sum += static_cast<double>(a[blockIdx.x * k + i]) * x[i];
  sums[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int other = 1; other < 64; other++) sum += sums[other];
  y[blockIdx.x] = static_cast<float>(sum);
}
