/* gpubench
[[scratch]]
name = "factors"
bytes = "8 * max(1024, next_power_of_two(c.len))"

[[scratch]]
name = "powers"
bytes = "2 * max(1024, next_power_of_two(c.len))"

[[step]]
kernel = "prepare"
grid = "max(1024, next_power_of_two(c.len)) / 256"
block = 256
arguments = ["a", "b", "factors", "powers", "n", "max(1024, next_power_of_two(c.len))"]

[[step]]
kernel = "forward_far"
grid = ["max(1024, next_power_of_two(c.len)) / 512", 2]
block = 256
arguments = ["factors", "powers", 524288, "max(1024, next_power_of_two(c.len))"]

[[step]]
kernel = "forward_far"
grid = ["max(1024, next_power_of_two(c.len)) / 512", 2]
block = 256
arguments = ["factors", "powers", 262144, "max(1024, next_power_of_two(c.len))"]

[[step]]
kernel = "forward_far"
grid = ["max(1024, next_power_of_two(c.len)) / 512", 2]
block = 256
arguments = ["factors", "powers", 131072, "max(1024, next_power_of_two(c.len))"]

[[step]]
kernel = "forward_far"
grid = ["max(1024, next_power_of_two(c.len)) / 512", 2]
block = 256
arguments = ["factors", "powers", 65536, "max(1024, next_power_of_two(c.len))"]

[[step]]
kernel = "forward_far"
grid = ["max(1024, next_power_of_two(c.len)) / 512", 2]
block = 256
arguments = ["factors", "powers", 32768, "max(1024, next_power_of_two(c.len))"]

[[step]]
kernel = "forward_far"
grid = ["max(1024, next_power_of_two(c.len)) / 512", 2]
block = 256
arguments = ["factors", "powers", 16384, "max(1024, next_power_of_two(c.len))"]

[[step]]
kernel = "forward_far"
grid = ["max(1024, next_power_of_two(c.len)) / 512", 2]
block = 256
arguments = ["factors", "powers", 8192, "max(1024, next_power_of_two(c.len))"]

[[step]]
kernel = "forward_far"
grid = ["max(1024, next_power_of_two(c.len)) / 512", 2]
block = 256
arguments = ["factors", "powers", 4096, "max(1024, next_power_of_two(c.len))"]

[[step]]
kernel = "forward_far"
grid = ["max(1024, next_power_of_two(c.len)) / 512", 2]
block = 256
arguments = ["factors", "powers", 2048, "max(1024, next_power_of_two(c.len))"]

[[step]]
kernel = "forward_far"
grid = ["max(1024, next_power_of_two(c.len)) / 512", 2]
block = 256
arguments = ["factors", "powers", 1024, "max(1024, next_power_of_two(c.len))"]

[[step]]
kernel = "forward_near"
grid = ["max(1024, next_power_of_two(c.len)) / 1024", 2]
block = 512
arguments = ["factors", "powers", "max(1024, next_power_of_two(c.len))"]

[[step]]
kernel = "multiply_and_inverse_near"
grid = "max(1024, next_power_of_two(c.len)) / 1024"
block = 512
arguments = ["factors", "powers", "max(1024, next_power_of_two(c.len))"]

[[step]]
kernel = "inverse_far"
grid = "max(1024, next_power_of_two(c.len)) / 512"
block = 256
arguments = ["factors", "powers", 1024, "max(1024, next_power_of_two(c.len))"]

[[step]]
kernel = "inverse_far"
grid = "max(1024, next_power_of_two(c.len)) / 512"
block = 256
arguments = ["factors", "powers", 2048, "max(1024, next_power_of_two(c.len))"]

[[step]]
kernel = "inverse_far"
grid = "max(1024, next_power_of_two(c.len)) / 512"
block = 256
arguments = ["factors", "powers", 4096, "max(1024, next_power_of_two(c.len))"]

[[step]]
kernel = "inverse_far"
grid = "max(1024, next_power_of_two(c.len)) / 512"
block = 256
arguments = ["factors", "powers", 8192, "max(1024, next_power_of_two(c.len))"]

[[step]]
kernel = "inverse_far"
grid = "max(1024, next_power_of_two(c.len)) / 512"
block = 256
arguments = ["factors", "powers", 16384, "max(1024, next_power_of_two(c.len))"]

[[step]]
kernel = "inverse_far"
grid = "max(1024, next_power_of_two(c.len)) / 512"
block = 256
arguments = ["factors", "powers", 32768, "max(1024, next_power_of_two(c.len))"]

[[step]]
kernel = "inverse_far"
grid = "max(1024, next_power_of_two(c.len)) / 512"
block = 256
arguments = ["factors", "powers", 65536, "max(1024, next_power_of_two(c.len))"]

[[step]]
kernel = "inverse_far"
grid = "max(1024, next_power_of_two(c.len)) / 512"
block = 256
arguments = ["factors", "powers", 131072, "max(1024, next_power_of_two(c.len))"]

[[step]]
kernel = "inverse_far"
grid = "max(1024, next_power_of_two(c.len)) / 512"
block = 256
arguments = ["factors", "powers", 262144, "max(1024, next_power_of_two(c.len))"]

[[step]]
kernel = "inverse_far"
grid = "max(1024, next_power_of_two(c.len)) / 512"
block = 256
arguments = ["factors", "powers", 524288, "max(1024, next_power_of_two(c.len))"]

[[step]]
kernel = "finish"
grid = "ceil_div(c.len, 256)"
block = 256
arguments = ["factors", "c", "c.len", "max(1024, next_power_of_two(c.len))"]
*/
// The product by a number-theoretic transform of `size` elements, a power of two: both polynomials
// are transformed, multiplied element by element, and transformed back. Stages go from natural to
// bit-reversed order and back, so nothing is ever reordered. The ten stages with the shortest
// distances are one kernel, in shared memory. The others are a launch each; those that are too far
// for the size do nothing. The largest size is 2^20.
constexpr unsigned int P = 2013265921u;
constexpr unsigned int NEAR = 1024;

__device__ inline unsigned int sum(unsigned int a, unsigned int b) {
  const unsigned int all = a + b;
  return all >= P ? all - P : all;
}

__device__ inline unsigned int difference(unsigned int a, unsigned int b) { return a >= b ? a - b : a + P - b; }

__device__ inline unsigned int product(unsigned int a, unsigned int b) {
  return static_cast<unsigned int>(static_cast<unsigned long long>(a) * b % P);
}

__device__ inline unsigned int power(unsigned int base, unsigned int exponent) {
  unsigned int result = 1;
  for (; exponent > 0; exponent >>= 1) {
    if (exponent & 1) result = product(result, base);
    base = product(base, base);
  }
  return result;
}

// Zeros after the coefficients, and the powers of a root of unity of order `size`.
__global__ void prepare(const unsigned int *__restrict__ a, const unsigned int *__restrict__ b, unsigned int *__restrict__ factors,
                        unsigned int *__restrict__ powers, unsigned int n, unsigned int size) {
  const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  factors[i] = i < n ? a[i] : 0;
  factors[size + i] = i < n ? b[i] : 0;
  if (i < size / 2) powers[i] = power(31, (P - 1) / size * i);
}

__device__ inline void forward(unsigned int &one, unsigned int &other, unsigned int root) {
  const unsigned int all = sum(one, other);
  other = product(difference(one, other), root);
  one = all;
}

// The inverse of a power of the root is the negative of another one: the exponents of both add up
// to half of the order, and that power is -1.
__device__ inline void inverse(unsigned int &one, unsigned int &other, const unsigned int *powers, unsigned int exponent,
                               unsigned int size) {
  const unsigned int scaled = exponent == 0 ? other : product(other, P - powers[size / 2 - exponent]);
  const unsigned int before = one;
  one = sum(before, scaled);
  other = difference(before, scaled);
}

__global__ void forward_far(unsigned int *factors, const unsigned int *__restrict__ powers, unsigned int apart, unsigned int size) {
  if (apart >= size) return;
  factors += blockIdx.y * size;
  const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x, step = i % apart, at = i / apart * 2 * apart + step;
  forward(factors[at], factors[at + apart], powers[step * (size / 2 / apart)]);
}

__global__ void inverse_far(unsigned int *factors, const unsigned int *__restrict__ powers, unsigned int apart, unsigned int size) {
  if (apart >= size) return;
  const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x, step = i % apart, at = i / apart * 2 * apart + step;
  inverse(factors[at], factors[at + apart], powers, step * (size / 2 / apart), size);
}

__global__ void __launch_bounds__(NEAR / 2) forward_near(unsigned int *factors, const unsigned int *__restrict__ powers,
                                                         unsigned int size) {
  __shared__ unsigned int near[NEAR];
  factors += blockIdx.y * size + blockIdx.x * NEAR;
  near[threadIdx.x] = factors[threadIdx.x];
  near[threadIdx.x + NEAR / 2] = factors[threadIdx.x + NEAR / 2];
  for (unsigned int apart = NEAR / 2; apart > 0; apart /= 2) {
    __syncthreads();
    const unsigned int step = threadIdx.x % apart, at = threadIdx.x / apart * 2 * apart + step;
    forward(near[at], near[at + apart], powers[step * (size / 2 / apart)]);
  }
  __syncthreads();
  factors[threadIdx.x] = near[threadIdx.x];
  factors[threadIdx.x + NEAR / 2] = near[threadIdx.x + NEAR / 2];
}

__global__ void __launch_bounds__(NEAR / 2) multiply_and_inverse_near(unsigned int *factors, const unsigned int *__restrict__ powers,
                                                                      unsigned int size) {
  __shared__ unsigned int near[NEAR];
  factors += blockIdx.x * NEAR;
  for (unsigned int i = threadIdx.x; i < NEAR; i += NEAR / 2) near[i] = product(factors[i], factors[size + i]);
  for (unsigned int apart = 1; apart < NEAR; apart *= 2) {
    __syncthreads();
    const unsigned int step = threadIdx.x % apart, at = threadIdx.x / apart * 2 * apart + step;
    inverse(near[at], near[at + apart], powers, step * (size / 2 / apart), size);
  }
  __syncthreads();
  for (unsigned int i = threadIdx.x; i < NEAR; i += NEAR / 2) factors[i] = near[i];
}

// Both transforms together multiply by the size.
__global__ void finish(const unsigned int *__restrict__ factors, unsigned int *__restrict__ c, unsigned int len, unsigned int size) {
  const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < len) c[i] = product(factors[i], P - (P - 1) / size);
}
