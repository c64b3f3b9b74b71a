/* gpubench
kernel = "naive"
grid = "ceil_div(blocks, 128)"
block = 128
arguments = ["x", "q", "scale", "blocks"]
*/

// The nearest number in E4M3, ties to even, at most 448.
__device__ inline unsigned char to_e4m3(float x) {
  const unsigned int sign = __float_as_uint(x) >> 24 & 0x80;
  const float magnitude = fminf(fabsf(x), 448.0f);
  // Subnormal numbers are multiples of 2^-9. The largest one rounds up to the first normal one.
  if (magnitude < 0x1p-6f) return static_cast<unsigned char>(sign | static_cast<unsigned int>(rintf(magnitude * 512.0f)));
  // Twenty bits of fraction are rounded off. A carry goes to the exponent.
  const unsigned int bits = __float_as_uint(magnitude);
  const unsigned int rounded = (bits + 0x7ffff + (bits >> 20 & 1)) >> 20;
  return static_cast<unsigned char>(sign | (rounded - ((127 - 7) << 3)));
}

// One block of 32 elements a thread.
__global__ void naive(const float *__restrict__ x, unsigned char *__restrict__ q, unsigned char *__restrict__ scale, size_t blocks) {
  const size_t block = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (block >= blocks) return;
  x += block * 32;
  float largest = 0.0f;
  for (int i = 0; i < 32; i++) largest = fmaxf(largest, fabsf(x[i]));
  const int exponent = static_cast<int>(__float_as_uint(largest) >> 23) - 8;
  const unsigned int biased = exponent < 0 ? 0 : exponent;
  scale[block] = static_cast<unsigned char>(biased);
  const float factor = __uint_as_float((254 - biased) << 23);
  for (int i = 0; i < 32; i++) q[block * 32 + i] = to_e4m3(x[i] * factor);
}
