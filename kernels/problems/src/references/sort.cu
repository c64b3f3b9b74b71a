#include "../device/random.cuh"

// Keys in the order that the name of the kernel says; `n` is their number.

// About a quarter of the keys are from a range of n numbers. Many of these are neighbours, also
// where n is small, so that every bit matters.
__global__ void random_keys(unsigned int *out, size_t n, unsigned long long seed) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i >= n) return;
  const unsigned long long bits = random_bits(seed, i), first = random_bits(~seed, 0) % ((1ull << 32) - n);
  out[i] = static_cast<unsigned int>(bits % 4 == 0 ? first + (bits >> 32) % n : bits >> 32);
}

// 13 values, which differ from call to call. They are about evenly apart, so none occurs twice.
__global__ void few_distinct_keys(unsigned int *out, size_t n, unsigned long long seed) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i >= n) return;
  const unsigned long long value = random_bits(seed, i) % 13;
  out[i] = static_cast<unsigned int>((value << 32) / 13 + random_bits(~seed, value) % (1ull << 28));
}

// Each key is somewhere in its n-th part of the range.
__global__ void descending_keys(unsigned int *out, size_t n, unsigned long long seed) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i >= n) return;
  const unsigned long long part = (1ull << 32) / n;
  const unsigned long long key = (n - 1 - i) * part + random_bits(seed, i) % part;
  out[i] = static_cast<unsigned int>(key);
}

// The expected keys, where they are too many for the CPU: a bitonic network over a power of two,
// whose places without a key hold the largest one.
__global__ void pad(const unsigned int *__restrict__ keys, unsigned int *__restrict__ padded, size_t n, size_t size) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < size) padded[i] = i < n ? keys[i] : 0xffffffffu;
}

// Every second stretch of `length` keys becomes ascending, those between descending.
__global__ void compare_and_swap(unsigned int *keys, size_t length, size_t distance, size_t size) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x, other = i ^ distance;
  if (i >= size || other < i) return;
  const bool ascends = (i & length) == 0;
  const unsigned int one = keys[i], two = keys[other];
  if ((one > two) == ascends) {
    keys[i] = two;
    keys[other] = one;
  }
}

__global__ void unpad(const unsigned int *__restrict__ padded, unsigned int *__restrict__ sorted, size_t n) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < n) sorted[i] = padded[i];
}
