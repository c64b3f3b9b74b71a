#include "../device/random.cuh"

// Beginnings of segments. Each stretch of 8192 elements has a density of its own: none at all in a
// quarter of the stretches, or one beginning in 2, in 8, and so on to one in 8192 elements. None
// begins in five eighths of the vector, or in 100 000 elements of a longer one.
__global__ void write_begins(unsigned char *out, size_t n, unsigned long long seed) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i >= n) return;
  const size_t quiet = n < 160000 ? n * 5 / 8 : 100000, first = random_bits(~seed, n) % (n - quiet);
  const unsigned long long stretch = random_bits(~seed, i / 8192);
  const unsigned long long apart = 2ull << (stretch / 4 % 7 * 2);
  out[i] = (i < first || i >= first + quiet) && stretch % 4 != 0 && random_bits(seed, i) % apart == 0;
}

// The expected sums, where the vector is too long for the CPU: the thread of the first element of a
// segment goes through all of it, in integers, which the elements are.
__global__ void segment_by_segment(const float *__restrict__ x, const unsigned char *__restrict__ begins, float *__restrict__ y,
                                   size_t n) {
  size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i >= n || (i != 0 && begins[i] == 0)) return;
  int sum = 0;
  do {
    sum += static_cast<int>(x[i]);
    y[i] = static_cast<float>(sum);
    i++;
  } while (i < n && begins[i] == 0);
}
