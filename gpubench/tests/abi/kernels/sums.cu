extern "C" __global__ void ramp(float *out, size_t len, unsigned long long seed) {
    size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < len) out[i] = float((i + seed) % 256);
}

extern "C" __global__ void atomics(const float *x, float *sum, size_t len) {
    size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < len) atomicAdd(sum, x[i]);
}

template <int BLOCK>
__global__ void partial_sums(const float *x, float *partial, size_t len) {
    size_t i = blockIdx.x * size_t(BLOCK) + threadIdx.x;
    if (i < len) atomicAdd(&partial[blockIdx.x], x[i]);
}

extern "C" __global__ void total(const float *partial, float *sum, size_t len) {
    float total = 0;
    for (size_t i = 0; i < len; i++) total += partial[i];
    *sum = total;
}
