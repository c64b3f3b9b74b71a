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

// The number that 4 bits of E2M1 stand for: 0, 0.5, 1, 1.5, 2, 3, 4 or 6, and a sign.
__device__ inline float from_e2m1(unsigned int bits) {
  const unsigned int exponent = bits >> 1 & 3, fraction = bits & 1;
  const float magnitude = exponent == 0 ? 0.5f * fraction : (1.0f + 0.5f * fraction) * (1u << (exponent - 1));
  return bits & 8 ? -magnitude : magnitude;
}

// Element i of a matrix of packed numbers, times the scale of its block.
__device__ inline float scaled(const unsigned char *packed, const unsigned char *scale, size_t i) {
  const unsigned int byte = packed[i / 2];
  return from_e2m1(i % 2 == 0 ? byte & 15 : byte >> 4) * from_e4m3(scale[i / 16]);
}

// One element a thread, straight from global memory.
__global__ void naive(const unsigned char *__restrict__ a, const unsigned char *__restrict__ a_scale,
                      const unsigned char *__restrict__ b, const unsigned char *__restrict__ b_scale, float *__restrict__ c, size_t m,
                      size_t n, size_t k) {
  const size_t column = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  const size_t row = blockIdx.y * static_cast<size_t>(blockDim.y) + threadIdx.y;
  if (row >= m || column >= n) return;
  float sum = 0.0f;
  for (size_t i = 0; i < k; i++) sum += scaled(a, a_scale, row * k + i) * scaled(b, b_scale, column * k + i);
  c[row * n + column] = sum;
}
