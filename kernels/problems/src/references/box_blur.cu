// The expected means, where the image is too large for the CPU: one pixel a thread, which adds up
// its whole box in integers and divides in double.
__global__ void in_integers(const unsigned char *__restrict__ image, float *__restrict__ blurred, int width, int height, int radius) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= width || row >= height) return;
  unsigned int sum = 0, count = 0;
  for (int i = row + radius; i >= row - radius; i--) {
    if (i < 0 || i >= height) continue;
    for (int j = column + radius; j >= column - radius; j--) {
      if (j < 0 || j >= width) continue;
      sum += image[i * static_cast<size_t>(width) + j];
      count++;
    }
  }
  blurred[row * static_cast<size_t>(width) + column] = static_cast<float>(static_cast<double>(sum) / count);
}
