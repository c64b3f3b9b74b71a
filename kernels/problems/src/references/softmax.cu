// The expected probabilities, where the matrix is too large for the CPU: one row a block of 64
// threads, in double, each thread on its own over the whole of every 64th column, and the first
// thread over what they found.
__global__ void in_double(const float *__restrict__ x, float *__restrict__ y, size_t columns) {
  __shared__ double found[64];
  x += blockIdx.x * columns;
  y += blockIdx.x * columns;
  double largest = x[0];
  for (size_t i = threadIdx.x; i < columns; i += 64) largest = x[i] > largest ? x[i] : largest;
  found[threadIdx.x] = largest;
  __syncthreads();
  for (int other = 0; other < 64; other++) largest = found[other] > largest ? found[other] : largest;
  __syncthreads();
  double sum = 0.0;
  for (size_t i = threadIdx.x; i < columns; i += 64) sum += exp(x[i] - largest);
  found[threadIdx.x] = sum;
  __syncthreads();
  sum = 0.0;
  for (int other = 0; other < 64; other++) sum += found[other];
  for (size_t i = threadIdx.x; i < columns; i += 64) y[i] = static_cast<float>(exp(x[i] - largest) / sum);
}
