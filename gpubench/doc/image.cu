// Kernels of the examples in this crate's documentation.

extern "C" __global__ void grayscale(const float *rgb, float *gray, size_t pixels) {
    size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < pixels) gray[i] = 0.2126f * rgb[3 * i] + 0.7152f * rgb[3 * i + 1] + 0.0722f * rgb[3 * i + 2];
}

extern "C" __global__ void brighten(const float *image, float *bright, float factor, size_t pixels) {
    size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < pixels) bright[i] = factor * image[i];
}

template <int THREADS>
__global__ void histogram(const unsigned char *pixels, unsigned *bins, size_t count) {
    size_t i = blockIdx.x * size_t(THREADS) + threadIdx.x;
    if (i < count) atomicAdd(&bins[pixels[i]], 1u);
}

struct Exposure {
    float gain;
    double bias;
};

extern "C" __global__ void expose(float *image, Exposure exposure, size_t pixels) {
    size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < pixels) image[i] = float(exposure.gain * image[i] + exposure.bias);
}
