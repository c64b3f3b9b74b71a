// The expected sum, where the vector is too long for the CPU: in integers, which the elements are.
__global__ void add_as_integers(const float *__restrict__ x, long long *sum, size_t n) {
  const size_t stride = gridDim.x * static_cast<size_t>(blockDim.x);
  long long own = 0;
  for (size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; i < n; i += stride) own += static_cast<long long>(x[i]);
  atomicAdd(reinterpret_cast<unsigned long long *>(sum), static_cast<unsigned long long>(own));
}

__global__ void as_float(const long long *integer, float *sum) { *sum = static_cast<float>(*integer); }
