/* gpubench
kernel = "naive"
grid = ["ceil_div(n, 32)", "ceil_div(m, 8)"]
block = [32, 8]
arguments = ["a", "a_scale", "b", "b_scale", "c", "m", "n", "k"]
*/

// The number that 8 bits of E4M3 stand for: four bits of exponent with a bias of 7, three of
// fraction. As the upper bits of a float they are too small by the difference of the biases.
__device__ inline float from_e4m3(unsigned int bits) {
  const float magnitude = __uint_as_float((bits & 0x7f) << 20) * 0x1p120f;
  return bits & 0x80 ? -magnitude : magnitude;
}

// The power of two that 8 bits of E8M0 stand for.
__device__ inline float from_e8m0(unsigned int bits) { return exp2f(static_cast<float>(static_cast<int>(bits) - 127)); }

// One element a thread, straight from global memory.
__global__ void naive(const unsigned char *__restrict__ a, const unsigned char *__restrict__ a_scale,
                      const unsigned char *__restrict__ b, const unsigned char *__restrict__ b_scale, float *__restrict__ c, size_t m,
                      size_t n, size_t k) {
  const size_t column = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  const size_t row = blockIdx.y * static_cast<size_t>(blockDim.y) + threadIdx.y;
  if (row >= m || column >= n) return;
  float sum = 0.0f;
  for (size_t i = 0; i < k; i++) {
    const size_t left = row * k + i, right = column * k + i;
    sum += from_e4m3(a[left]) * from_e8m0(a_scale[left / 32]) * (from_e4m3(b[right]) * from_e8m0(b_scale[right / 32]));
  }
  c[row * n + column] = sum;
}
