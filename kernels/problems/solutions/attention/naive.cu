/* gpubench
kernel = "naive"
grid = "heads * n"
block = 64
shared = "4 * n"
arguments = ["q", "k", "v", "out", "n"]
*/

// One query a block of 64 threads, which keeps the weights of all keys in shared memory. Each
// thread has every 64th key, then one of the 64 columns of the output.
__global__ void naive(const float *__restrict__ q, const float *__restrict__ k, const float *__restrict__ v, float *__restrict__ out,
                      size_t n) {
  extern __shared__ float weights[];
  __shared__ float found[64];
  const size_t head = blockIdx.x / n;
  const unsigned int thread = threadIdx.x;
  q += blockIdx.x * static_cast<size_t>(64);
  out += blockIdx.x * static_cast<size_t>(64);
  k += head * n * 64;
  v += head * n * 64;
  float largest = -1e30f;
  for (size_t key = thread; key < n; key += 64) {
    float score = 0.0f;
    for (int i = 0; i < 64; i++) score += q[i] * k[key * 64 + i];
    weights[key] = score * 0.125f;
    largest = fmaxf(largest, weights[key]);
  }
  found[thread] = largest;
  __syncthreads();
  for (int other = 0; other < 64; other++) largest = fmaxf(largest, found[other]);
  for (size_t key = thread; key < n; key += 64) weights[key] = expf(weights[key] - largest);
  __syncthreads();
  float sum = 0.0f, weighted = 0.0f;
  for (size_t key = 0; key < n; key++) {
    sum += weights[key];
    weighted += weights[key] * v[key * 64 + thread];
  }
  out[thread] = weighted / sum;
}
