/* gpubench
[[step]]
memset = "y"
value = 0

[[step]]
kernel = "add"
grid = ["ceil_div(inner, min(32, next_power_of_two(inner)))", "ceil_div(middle, if(outer * inner < 100000, 512, middle))", "outer"]
block = ["min(32, next_power_of_two(inner))", "256 / min(32, next_power_of_two(inner))"]
arguments = ["x", "y", "middle", "inner"]
*/
// A block has up to 32 neighbouring sums and a stretch of the middle dimension. Its threads divide
// the stretch among them and add up in shared memory what they found. With few sums there are
// several stretches, whose blocks add to the result, so that there are enough blocks for the
// device.
__global__ void __launch_bounds__(256) add(const float *__restrict__ x, float *__restrict__ y, size_t middle, size_t inner) {
  __shared__ float partial[256];
  const int width = blockDim.x, height = blockDim.y, own = threadIdx.y * width + threadIdx.x;
  const size_t k = blockIdx.x * static_cast<size_t>(width) + threadIdx.x;
  const size_t stretch = (middle + gridDim.y - 1) / gridDim.y, start = blockIdx.y * stretch;
  const size_t end = start + stretch < middle ? start + stretch : middle;
  float sum = 0.0f;
  if (k < inner) {
    const float *const along = x + blockIdx.z * middle * inner + k;
#pragma unroll 4
    for (size_t j = start + threadIdx.y; j < end; j += height) sum += along[j * inner];
  }
  partial[own] = sum;
  for (int half = height / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.y < half) partial[own] += partial[own + half * width];
  }
  if (threadIdx.y == 0 && k < inner) atomicAdd(&y[blockIdx.z * inner + k], partial[own]);
}
