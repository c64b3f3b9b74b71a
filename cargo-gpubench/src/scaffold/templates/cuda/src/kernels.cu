// One thread sums a row.
__global__ void one_thread_a_row(const float *x, float *sums, size_t rows, size_t cols) {
    size_t row = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
    for (size_t col = 0; col < cols; ++col) sum += x[row * cols + col];
    sums[row] = sum;
}

// A block of 256 threads sums a row: each thread a part, then half of the threads the other half's.
__global__ void one_block_a_row(const float *x, float *sums, size_t cols) {
    __shared__ float partial[256];
    const float *row = x + blockIdx.x * cols;
    float sum = 0;
    for (size_t col = threadIdx.x; col < cols; col += 256) sum += row[col];
    partial[threadIdx.x] = sum;
    __syncthreads();
    for (unsigned half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = partial[0];
}
