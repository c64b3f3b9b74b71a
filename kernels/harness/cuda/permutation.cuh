// A keyed permutation of 0..count for every count: a bijection on the next power of two, applied
// again until the result is in range ("cycle walking", Black and Rogaway 2002). Multiplication by
// an odd number, addition and xor-shift are bijections modulo 2^bits. It takes fewer than two steps
// on average, because count is more than half of 2^bits.
#pragma once

#include "work.cuh"

namespace gb {

struct Permutation {
  uint64_t count;
  uint64_t mask;
  uint32_t shift;
  uint64_t factor[3];
  uint64_t addend[3];
};

GB_INLINE Permutation permutation_of(uint64_t count, uint64_t key) {
  Permutation p;
  uint32_t bits = 0;
#if !defined(__GPUBENCH_CPU__)
  bits = 64 - __clzll((long long)(count - 1));
#else
  while (bits < 64 && (count - 1) >> bits) ++bits;
#endif
  p.count = count;
  p.mask = bits == 64 ? ~0ull : (1ull << bits) - 1;
  p.shift = (bits + 1) / 2;
  GB_UNROLL for (uint32_t i = 0; i < 3; ++i) {
    p.factor[i] = derived(key, 2 * i + 1) | 1;
    p.addend[i] = derived(key, 2 * i + 2);
  }
  return p;
}

// The position of `index`, which must be below the count.
GB_INLINE uint64_t permuted(const Permutation &p, uint64_t index) {
  do {
    GB_UNROLL for (uint32_t i = 0; i < 3; ++i) {
      index = (index * p.factor[i] + p.addend[i]) & p.mask;
      index ^= index >> p.shift;
    }
  } while (index >= p.count);
  return index;
}

}  // namespace gb
