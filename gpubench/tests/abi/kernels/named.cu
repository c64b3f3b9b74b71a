// Names that mean something else in Rust or in the macro's output.
#include "named.cuh"

__global__ void match(const float *type, float *in, int launcher, unsigned grid, int self, int) {}

extern "C" __global__ void kernel(float *N, long long KERNELS, char c, bool NAMED) {}

namespace outer::inner {
__global__ void scale(const void *x, double *__restrict__ y, double factor) {}
}

#if defined(WIDE)
__global__ void either(double *x) {}
#else
__global__ void either(float *x) {}
#endif

#define MADE(NAME) __global__ void NAME(float *x) {}
MADE(made)
