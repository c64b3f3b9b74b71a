// The expected gray, where there are too many pixels for the CPU.
__global__ void grayscale_in_double(const float *__restrict__ rgb, float *__restrict__ gray, size_t pixels) {
  const size_t pixel = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (pixel >= pixels) return;
  const float weights[] = {0.2126f, 0.7152f, 0.0722f};
  double sum = 0.0;
  for (int channel = 0; channel < 3; channel++) sum += static_cast<double>(weights[channel]) * rgb[3 * pixel + channel];
  gray[pixel] = static_cast<float>(sum);
}
