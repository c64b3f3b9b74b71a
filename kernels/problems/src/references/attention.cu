// The expected outputs, where they are too many for the CPU: one query a block of 64 threads, in
// double. First the largest score, then the weights of 64 keys at a time and a column a thread.
__global__ void in_double(const float *__restrict__ q, const float *__restrict__ k, const float *__restrict__ v,
                          float *__restrict__ out, size_t n) {
  __shared__ double shared[64];
  const size_t head = blockIdx.x / n;
  const unsigned int thread = threadIdx.x;
  q += blockIdx.x * static_cast<size_t>(64);
  k += head * n * 64;
  v += head * n * 64;
  const auto score = [&](size_t key) {
    double sum = 0.0;
    for (int i = 0; i < 64; i++) sum += static_cast<double>(q[i]) * k[key * 64 + i];
    return sum / 8.0;
  };
  double largest = score(0);
  for (size_t key = thread; key < n; key += 64) largest = fmax(largest, score(key));
  shared[thread] = largest;
  __syncthreads();
  for (int other = 0; other < 64; other++) largest = fmax(largest, shared[other]);
  double sum = 0.0, weighted = 0.0;
  for (size_t start = 0; start < n; start += 64) {
    __syncthreads();
    shared[thread] = start + thread < n ? exp(score(start + thread) - largest) : 0.0;
    __syncthreads();
    for (size_t key = start; key < n && key < start + 64; key++) {
      sum += shared[key - start];
      weighted += shared[key - start] * v[key * 64 + thread];
    }
  }
  out[blockIdx.x * static_cast<size_t>(64) + thread] = static_cast<float>(weighted / sum);
}
