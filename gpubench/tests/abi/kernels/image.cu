#include "pixel.cuh"
#include <cuda_fp16.h>

extern "C" __global__ void grayscale(const float *rgb, float *gray, size_t pixels) {
    size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < pixels) gray[i] = luminance(rgb + 3 * i);
}
