// The kernel of the package's readme.

extern "C" __global__ void axpy(const float *x, float *y, float a, size_t n) {
    size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}
