/* gpubench
grid = "batch"
block = 128
shared = "4 * n * (n + 1)"
*/
// One matrix a block, in shared memory. Each step divides a column by the root of its diagonal and
// subtracts its products from the columns to the right. A thread has one row of these, or every
// 128th, and rows are one word longer than they need to be: neighbouring threads use different
// banks.
__global__ void __launch_bounds__(128) factor(const float *__restrict__ a, float *__restrict__ l, int n) {
  extern __shared__ float m[];
  const size_t start = blockIdx.x * static_cast<size_t>(n) * n;
  const int stride = n + 1;
  for (int at = threadIdx.x; at < n * n; at += blockDim.x) m[at / n * stride + at % n] = a[start + at];
  __syncthreads();
  for (int k = 0; k < n; k++) {
    const float root = sqrtf(m[k * stride + k]);
    __syncthreads();
    for (int i = k + threadIdx.x; i < n; i += blockDim.x) {
      m[i * stride + k] = i == k ? root : m[i * stride + k] / root;
    }
    __syncthreads();
    // Half of the threads for the even columns, and half for the odd ones.
    const int half = threadIdx.x / 64;
    for (int i = k + 1 + threadIdx.x % 64; i < n; i += 64) {
      const float factor = m[i * stride + k];
      for (int j = k + 1 + half; j <= i; j += 2) m[i * stride + j] -= factor * m[j * stride + k];
    }
    __syncthreads();
  }
  for (int at = threadIdx.x; at < n * n; at += blockDim.x) {
    const int i = at / n, j = at % n;
    l[start + at] = j <= i ? m[i * stride + j] : 0.0f;
  }
}
