/* gpubench
grid = "ceil_div(batch, 32)"
block = 32
*/
// One matrix a thread, row by row.
__global__ void factor(const float *a, float *l, int batch, int n) {
  const int matrix = blockIdx.x * blockDim.x + threadIdx.x;
  if (matrix >= batch) return;
  a += matrix * size_t(n) * n;
  l += matrix * size_t(n) * n;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      if (j > i) {
        l[i * n + j] = 0.0f;
        continue;
      }
      float sum = a[i * n + j];
      for (int k = 0; k < j; k++) sum -= l[i * n + k] * l[j * n + k];
      l[i * n + j] = i == j ? sqrtf(sum) : sum / l[j * n + j];
    }
  }
}
