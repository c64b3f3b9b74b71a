// Two ways to take the softmax of every row, a block of 256 threads for each: the example of
// `#[problem]`.

__device__ float block_reduce(float value, bool largest) {
    __shared__ float values[256];
    __syncthreads();
    values[threadIdx.x] = value;
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) {
            float a = values[threadIdx.x], b = values[threadIdx.x + half];
            values[threadIdx.x] = largest ? fmaxf(a, b) : a + b;
        }
    }
    __syncthreads();
    return values[0];
}

// Finds the largest value, then the sum, then writes.
extern "C" __global__ void three_passes(const float *x, float *y, size_t cols) {
    x += blockIdx.x * cols;
    y += blockIdx.x * cols;
    float largest = -INFINITY, sum = 0;
    for (size_t col = threadIdx.x; col < cols; col += blockDim.x) largest = fmaxf(largest, x[col]);
    largest = block_reduce(largest, true);
    for (size_t col = threadIdx.x; col < cols; col += blockDim.x) sum += expf(x[col] - largest);
    sum = block_reduce(sum, false);
    for (size_t col = threadIdx.x; col < cols; col += blockDim.x) y[col] = expf(x[col] - largest) / sum;
}

// Finds the largest value and the sum in one pass, rescaling the sum whenever a larger value turns
// up.
extern "C" __global__ void online(const float *x, float *y, size_t cols) {
    x += blockIdx.x * cols;
    y += blockIdx.x * cols;
    float largest = -INFINITY, sum = 0;
    for (size_t col = threadIdx.x; col < cols; col += blockDim.x) {
        float larger = fmaxf(largest, x[col]);
        sum = sum * expf(largest - larger) + expf(x[col] - larger);
        largest = larger;
    }
    float row_largest = block_reduce(largest, true);
    float row_sum = block_reduce(sum == 0 ? 0 : sum * expf(largest - row_largest), false);
    for (size_t col = threadIdx.x; col < cols; col += blockDim.x) y[col] = expf(x[col] - row_largest) / row_sum;
}
