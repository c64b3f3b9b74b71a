// Draws: how the words of a stream become elements. Draw i is `BYTES` bytes of the stream, starting
// at byte `BYTES * i`.
#pragma once

#include "element.cuh"
#include "philox.cuh"

namespace gb {

// Bytes of the stream for one element: its size, and at least two.
template <class E>
GB_INLINE constexpr uint32_t drawn_bytes() {
  return sizeof(typename E::Bits) == 1 ? 2 : sizeof(typename E::Bits);
}

// Eight where its value is computed in double.
template <class E>
GB_INLINE constexpr uint32_t real_bytes() {
  return sizeof(typename E::Real) == 8 ? 8 : drawn_bytes<E>();
}

// A number drawn uniformly from all numbers of `BYTES` bytes.
template <uint32_t BYTES>
struct Draw;

template <>
struct Draw<2> {
  // Below 2^16.
  static GB_INLINE uint32_t whole(const uint32_t *words, uint32_t i) {
#if !defined(__GPUBENCH_CPU__)
    return (words[i / 2] >> (16 * (i % 2))) & 0xffffu;
#else
    return ((const uint16_t *)words)[i];
#endif
  }
  // floor(draw * span / 2^16); spans up to 2^16.
  static GB_INLINE uint32_t below(const uint32_t *words, uint32_t i, uint32_t span) { return whole(words, i) * span >> 16; }
  static GB_INLINE float unit(const uint32_t *words, uint32_t i) { return (float)(int32_t)whole(words, i) * 0x1p-16f; }
};

template <>
struct Draw<4> {
  static GB_INLINE uint32_t whole(const uint32_t *words, uint32_t i) { return words[i]; }
  static GB_INLINE uint32_t below(const uint32_t *words, uint32_t i, uint32_t span) { return (uint32_t)((uint64_t)words[i] * span >> 32); }
  static GB_INLINE float unit(const uint32_t *words, uint32_t i) { return (float)(int32_t)(words[i] >> 8) * 0x1p-24f; }
};

template <>
struct Draw<8> {
  static GB_INLINE uint32_t low(const uint32_t *words, uint32_t i) { return words[2 * i]; }
  static GB_INLINE uint32_t high(const uint32_t *words, uint32_t i) { return words[2 * i + 1]; }
  static GB_INLINE uint64_t whole(const uint32_t *words, uint32_t i) { return low(words, i) | (uint64_t)high(words, i) << 32; }
  static GB_INLINE uint32_t below(const uint32_t *words, uint32_t i, uint32_t span) { return (uint32_t)((uint64_t)high(words, i) * span >> 32); }
  static GB_INLINE double unit(const uint32_t *words, uint32_t i) { return double_of(whole(words, i) >> 12 | 0x3ff0000000000000ull) - 1.0; }
  // floor(draw * span / 2^64) in 32-bit products, which vectors have.
  static GB_INLINE uint64_t below_wide(const uint32_t *words, uint32_t i, uint64_t span) {
    const uint32_t span_low = (uint32_t)span, span_high = (uint32_t)(span >> 32);
    const uint64_t ll = (uint64_t)low(words, i) * span_low, lh = (uint64_t)low(words, i) * span_high;
    const uint64_t hl = (uint64_t)high(words, i) * span_low, hh = (uint64_t)high(words, i) * span_high;
    const uint64_t middle = (ll >> 32) + (uint32_t)lh + (uint32_t)hl;
    return hh + (lh >> 32) + (hl >> 32) + (middle >> 32);
  }
};

// Puts a draw into the last places of a power of two, in one operation. The results are equally
// spaced numbers, `step()` apart, from `first()` to `last()`.
template <uint32_t BYTES>
struct Notch;

// 128 + draw * 2^-16.
template <>
struct Notch<2> {
  uint32_t upper;
  static GB_INLINE Notch prepared() { return Notch{kept(0x43000000u)}; }
  static GB_INLINE float first() { return 128.0f; }
  static GB_INLINE float last() { return 129.0f - 0x1p-16f; }
  static GB_INLINE double step() { return 0x1p-16; }
  GB_INLINE float of(const uint32_t *words, uint32_t i) const {
#if !defined(__GPUBENCH_CPU__)
    return float_of(__byte_perm(words[i / 2], upper, i % 2 == 0 ? 0x7610 : 0x7632));
#else
    return float_of(upper | Draw<2>::whole(words, i));
#endif
  }
};

// 1 + the upper 23 bits of the draw * 2^-23.
template <>
struct Notch<4> {
  static GB_INLINE Notch prepared() { return Notch{}; }
  static GB_INLINE float first() { return 1.0f; }
  static GB_INLINE float last() { return 2.0f - 0x1p-23f; }
  static GB_INLINE double step() { return 0x1p-23; }
  GB_INLINE float of(const uint32_t *words, uint32_t i) const { return float_of((words[i] >> 9) + 0x3f800000u); }
};

// 1 + the upper 52 bits of the draw * 2^-52.
template <>
struct Notch<8> {
  static GB_INLINE Notch prepared() { return Notch{}; }
  static GB_INLINE double first() { return 1.0; }
  static GB_INLINE double last() { return 2.0 - 0x1p-52; }
  static GB_INLINE double step() { return 0x1p-52; }
  GB_INLINE double of(const uint32_t *words, uint32_t i) const { return double_of(Draw<8>::whole(words, i) >> 12 | 0x3ff0000000000000ull); }
};

// Elements that a thread handles at once: 16 bytes of elements, or the output of two blocks on a
// GPU.
template <class E, uint32_t BYTES>
struct Run {
#if !defined(__GPUBENCH_CPU__)
  static constexpr uint32_t BLOCKS = BYTES > sizeof(typename E::Bits) ? 2 : 1;
#else
  static constexpr uint32_t BLOCKS = BATCH;
#endif
  static constexpr uint32_t LENGTH = BLOCKS * PHILOX_BYTES / BYTES;
};

}  // namespace gb
