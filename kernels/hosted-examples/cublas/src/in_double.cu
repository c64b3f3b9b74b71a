// C = A B in double precision, one thread an element: slow, and right to the last bit that counts.
extern "C" __global__ void in_double(const float *a, const float *b, float *c, unsigned long long n) {
    unsigned long long column = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
    unsigned long long row = blockIdx.y * (unsigned long long)blockDim.y + threadIdx.y;
    if (row >= n || column >= n) return;
    double sum = 0.0;
    for (unsigned long long i = 0; i < n; i++) sum += (double)a[row * n + i] * (double)b[i * n + column];
    c[row * n + column] = (float)sum;
}
