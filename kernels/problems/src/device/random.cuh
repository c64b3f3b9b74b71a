// Random numbers for kernels that generate inputs.
#pragma once

// A 64-bit number that depends on a seed and an index alone: SplitMix64 by Steele, Lea and Flood,
// jumped to.
__device__ inline unsigned long long random_bits(unsigned long long seed, unsigned long long index) {
  unsigned long long z = seed + (index + 1) * 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}
