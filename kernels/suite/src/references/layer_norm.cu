// The expected rows, where they are too many for the CPU: one row a block of 64 threads, in double.
__global__ void in_double(const float *__restrict__ x, const float *__restrict__ gain, const float *__restrict__ bias,
                          float *__restrict__ y, size_t columns, float epsilon) {
  __shared__ double found[64];
  x += blockIdx.x * columns;
  y += blockIdx.x * columns;
  double sum = 0.0, mean = 0.0, variance = 0.0;
  for (size_t i = threadIdx.x; i < columns; i += 64) sum += x[i];
  found[threadIdx.x] = sum;
  __syncthreads();
  for (int other = 0; other < 64; other++) mean += found[other] / columns;
  __syncthreads();
  sum = 0.0;
  for (size_t i = threadIdx.x; i < columns; i += 64) sum += (x[i] - mean) * (x[i] - mean);
  found[threadIdx.x] = sum;
  __syncthreads();
  for (int other = 0; other < 64; other++) variance += found[other] / columns;
  const double deviation = sqrt(variance + static_cast<double>(epsilon));
  for (size_t i = threadIdx.x; i < columns; i += 64) y[i] = static_cast<float>((x[i] - mean) / deviation * gain[i] + bias[i]);
}
