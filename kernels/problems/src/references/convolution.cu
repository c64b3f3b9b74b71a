// The expected image, where it is too large for the CPU: one pixel a thread, in double and straight
// from global memory.
__global__ void in_double(const float *__restrict__ image, const float *__restrict__ filter, float *__restrict__ out, int width,
                          int height, int radius) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= width || row >= height) return;
  double sum = 0.0;
  for (int y = -radius; y <= radius; y++) {
    for (int x = -radius; x <= radius; x++) {
      if (row + y < 0 || row + y >= height || column + x < 0 || column + x >= width) continue;
      const double tap = filter[(y + radius) * (2 * radius + 1) + x + radius];
      sum += tap * image[(row + y) * static_cast<size_t>(width) + column + x];
    }
  }
  out[row * static_cast<size_t>(width) + column] = static_cast<float>(sum);
}

// The filter: multiples of 1/128 from -1 to 1, in an order that is neither symmetric nor separable.
// `tap` in the Rust file has the same values.
__global__ void write_taps(float *out, size_t n, unsigned long long) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < n) out[i] = static_cast<float>(static_cast<int>((i * 67 + 29) % 257) - 128) / 128.0f;
}
