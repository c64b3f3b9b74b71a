// Stores the elements of a run in memory.
#pragma once

#include "element.cuh"

namespace gb {

// The result of `make(words, i)`: a value of the floating-point type in which elements are
// computed, or the bits of an integer.
template <class E, bool FLOATING = E::FLOATING>
struct Stored {
  typedef typename E::Bits Made;
  static GB_INLINE typename E::Bits bits(Made made) { return made; }
};

template <class E>
struct Stored<E, true> {
  typedef typename E::Real Made;
  static GB_INLINE typename E::Bits bits(Made made) { return E::nearest(made); }
};

// Replaces a `make`: the words are the elements.
struct AsDrawn {};

#if !defined(__GPUBENCH_CPU__)
// Elements as words of 4 bytes.
template <class E, uint32_t BYTES = sizeof(typename E::Bits), bool FLOATING = E::FLOATING>
struct Packed;
template <class E>
struct Packed<E, 1, false> {
  template <class Made>
  static GB_INLINE uint32_t word(const Made *made) {
    return (uint32_t)made[0] & 0xffu | ((uint32_t)made[1] & 0xffu) << 8 | ((uint32_t)made[2] & 0xffu) << 16 | (uint32_t)made[3] << 24;
  }
};
template <class E>
struct Packed<E, 1, true> {
  static GB_INLINE uint32_t word(const float *made) {
    return E::nearest(made[0]) | (uint32_t)E::nearest(made[1]) << 8 | (uint32_t)E::nearest(made[2]) << 16 | (uint32_t)E::nearest(made[3]) << 24;
  }
};
template <class E>
struct Packed<E, 2, false> {
  template <class Made>
  static GB_INLINE uint32_t word(const Made *made) { return (uint32_t)made[0] & 0xffffu | (uint32_t)made[1] << 16; }
};
template <class E>
struct Packed<E, 2, true> {
  static GB_INLINE uint32_t word(const float *made) { return E::nearest_pair(made[0], made[1]); }
};
#endif

// A run of `LENGTH` elements, each `make(words, i)`.
template <class E, uint32_t LENGTH, class Make>
struct Store {
  typedef Stored<E> S;
  typedef typename E::Bits Bits;
#if !defined(__GPUBENCH_CPU__)
  // Stores to an address aligned to 16 bytes.
  static GB_INLINE void whole(Bits *out, const uint32_t *drawn, Make make) {
    constexpr uint32_t SIZE = sizeof(Bits), WORDS = LENGTH * SIZE / 4;
    typename S::Made made[LENGTH];
    GB_UNROLL for (uint32_t i = 0; i < LENGTH; ++i) made[i] = make(drawn, i);
    if constexpr (SIZE == 8) {
      static_assert(LENGTH == 2, "16 bytes");
      *(ulonglong2 *)out = make_ulonglong2(E::raw(S::bits(made[0])), E::raw(S::bits(made[1])));
    } else {
      uint32_t words[WORDS];
      if constexpr (SIZE == 4) {
        GB_UNROLL for (uint32_t w = 0; w < WORDS; ++w) words[w] = E::raw(S::bits(made[w]));
      } else {
        GB_UNROLL for (uint32_t w = 0; w < WORDS; ++w) words[w] = Packed<E>::word(made + w * (4 / SIZE));
      }
      if constexpr (WORDS == 4) *(uint4 *)out = make_uint4(words[0], words[1], words[2], words[3]);
      else GB_UNROLL for (uint32_t w = 0; w < WORDS; ++w) ((uint32_t *)out)[w] = words[w];
    }
  }
#endif
  // Stores the first `n`, one by one.
  static GB_INLINE void some(Bits *out, uint32_t n, const uint32_t *drawn, Make make) {
    GB_EACH(i, n, LENGTH) out[i] = S::bits(make(drawn, i));
  }
};

template <class E, uint32_t LENGTH>
struct Store<E, LENGTH, AsDrawn> {
  typedef typename E::Bits Bits;
#if !defined(__GPUBENCH_CPU__)
  static GB_INLINE void whole(Bits *out, const uint32_t *drawn, AsDrawn) {
    *(uint4 *)out = make_uint4(drawn[0], drawn[1], drawn[2], drawn[3]);
  }
  static GB_INLINE void some(Bits *out, uint32_t n, const uint32_t *drawn, AsDrawn) {
    GB_EACH(i, n, LENGTH) out[i] = ((const Bits *)drawn)[i];
  }
#else
  static GB_INLINE void some(Bits *out, uint32_t n, const uint32_t *drawn, AsDrawn) { __builtin_memcpy(out, drawn, n * sizeof(Bits)); }
#endif
};

}  // namespace gb
