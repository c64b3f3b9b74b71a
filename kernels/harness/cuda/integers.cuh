// Integers drawn from a range.
//
// A draw of n bits is multiplied by the size of the range, and the low n bits of the product are
// dropped. The result is an integer of the range. A draw at the border of two integers falls to one
// of them, which changes the probability of a value by at most size / 2^n of itself. Where that is
// too much, two elements exchange the dropped bits: multiplied by the size and shortened by n bits,
// they are added to the product of the other element before its bits are dropped. Each of the two
// is then drawn from 2n bits.
#pragma once

#include "runs.cuh"

namespace gb {

// low + offset, as an integer or as a real number that is exact in `Real`.
template <class E, bool FLOATING = E::FLOATING>
struct Offset;

template <class E>
struct Offset<E, false> {
  typename E::Bits low;
  static GB_INLINE bool is_exact(int64_t, uint64_t) { return true; }
  static GB_INLINE Offset from(int64_t low) { return Offset{(typename E::Bits)low}; }
  GB_INLINE typename E::Bits plus(uint32_t offset) const { return (typename E::Bits)(low + (typename E::Bits)offset); }
};

// The offset goes into the last places of a power of two, which `base` subtracts again.
template <class E>
struct Offset<E, true> {
  typedef typename E::Real Real;
  Real base;
  static constexpr int64_t POWER = sizeof(Real) == 4 ? 1ll << 23 : 1ll << 52;
  // The largest integer up to which both the type and the sum have all integers.
  static constexpr int64_t LAST = E::EXACT < POWER / 2 ? E::EXACT : POWER / 2;
  static GB_INLINE bool is_exact(int64_t low, uint64_t span) {
    return low >= -LAST && low <= LAST && span <= (uint64_t)POWER && low + (int64_t)span <= LAST + 1;
  }
  static GB_INLINE Offset from(int64_t low) { return Offset{(Real)(low - POWER)}; }
  GB_INLINE Real plus(uint32_t offset) const {
    if constexpr (sizeof(Real) == 8) return double_of(0x4330000000000000ull | offset) + base;
    else return float_of(0x4b000000u | offset) + base;
  }
};

// An offset in a range that is too wide for those last places. The type has all integers of the
// range.
template <class E>
struct Converted {
  typedef typename E::Real Real;
  int32_t low;
  static GB_INLINE bool is_exact(int64_t low, uint64_t span) {
    return low >= -E::EXACT && low <= E::EXACT && span <= (uint64_t)(2 * E::EXACT + 1) && low + (int64_t)span <= E::EXACT + 1;
  }
  static GB_INLINE Converted from(int64_t low) { return Converted{(int32_t)low}; }
  GB_INLINE Real plus(uint32_t offset) const { return (Real)(low + (int32_t)offset); }
};

template <class E, bool FLOATING = E::FLOATING>
struct OfInteger;

template <class E>
struct OfInteger<E, false> {
  static GB_INLINE typename E::Bits made(uint64_t value, const Bounds<typename E::Real>) { return (typename E::Bits)value; }
};

template <class E>
struct OfInteger<E, true> {
  typedef typename E::Real Real;
  static GB_INLINE Real made(uint64_t value, const Bounds<Real> bounds) { return held((Real)(double)(int64_t)value, bounds); }
};

// Whether draws of this many bits are uniform enough by themselves. They are exact for powers of
// two. Otherwise, the probability of a value is off by at most 2^-8 of itself with 16 bits, and by
// 2^-16 with 32.
template <uint32_t DRAWN_BITS>
GB_INLINE bool is_narrow(uint64_t span) {
  const bool power_of_two = (span & (span - 1)) == 0;
  return span != 0 && (span <= 1ull << (DRAWN_BITS / 2) || (power_of_two && span < 1ull << DRAWN_BITS));
}

// Whether they are uniform enough when pairs exchange bits. The dropped part of a draw is a
// multiple of the largest power of two in the span, so the probability of a value is off by at most
// span * power / 2^(2 * DRAWN_BITS) of itself: 2^-5 with 8 bits, less than 2^-10 with 16, 2^-8 with
// 32.
// The probability of a pair of values is off by 2^-8 with 16 bits. With 8 bits, each pair has a
// whole number of the 2^16 draws, at least one.
template <uint32_t DRAWN_BITS>
GB_INLINE bool is_traded(uint64_t span) {
  constexpr uint64_t MOST = DRAWN_BITS == 8 ? (1ull << 8) - 1 : DRAWN_BITS == 16 ? (1ull << 12) + 1 : (1ull << 32) - 1;
  constexpr uint64_t PRODUCT = 1ull << (DRAWN_BITS == 8 ? 11 : DRAWN_BITS == 16 ? 22 : 56);
  const uint64_t power = span & (0 - span);
  return span != 0 && span <= MOST && (span == power || span * power <= PRODUCT);
}

template <class E, uint32_t BYTES>
GB_INLINE void fill_narrow_integers(const gb_fill_args &a, const Task &task) {
  const Offset<E> low = Offset<E>::from(a.low);
  const uint32_t span = (uint32_t)a.span;
  each_element<E, BYTES>(a, task, GB_MAKE { return low.plus(Draw<BYTES>::below(words, i, span)); });
}

// Turns the draws of the elements of a run into offsets in the range, two at a time.
template <uint32_t BYTES>
struct Trade;

// Two halves of a word; spans up to 2^15.
template <>
struct Trade<2> {
  uint32_t span;
  static constexpr uint32_t WORDS = 1;
  GB_INLINE void mix(uint32_t *words) const {
    const uint32_t lower = (words[0] & 0xffffu) * span, upper = (words[0] >> 16) * span;
    const uint32_t lower_traded = lower + ((upper & 0xffffu) * span >> 16), upper_traded = upper + ((lower & 0xffffu) * span >> 16);
    words[0] = lower_traded >> 16 | (upper_traded & 0xffff0000u);
  }
};

// Two words.
template <>
struct Trade<4> {
  uint32_t span;
  static constexpr uint32_t WORDS = 2;
  GB_INLINE void mix(uint32_t *words) const {
    const uint64_t first = (uint64_t)words[0] * span, second = (uint64_t)words[1] * span;
    words[0] = (uint32_t)((first + ((uint64_t)(uint32_t)second * span >> 32)) >> 32);
    words[1] = (uint32_t)((second + ((uint64_t)(uint32_t)first * span >> 32)) >> 32);
  }
};

template <class E, uint32_t BYTES, class Low = Offset<E>>
GB_INLINE void fill_traded_integers(const gb_fill_args &a, const Task &task) {
  const Low low = Low::from(a.low);
  const Trade<BYTES> trade = {(uint32_t)a.span};
  each_element<E, BYTES>(a, task, GB_MIX {
    GB_LANES for (uint32_t w = 0; w < 4 * Run<E, BYTES>::BLOCKS; w += Trade<BYTES>::WORDS) trade.mix(words + w);
  }, GB_MAKE { return low.plus(Draw<BYTES>::whole(words, i)); });
}

// The first and third byte of a word in the lower bytes of its halves, and the other two there as
// well.
constexpr uint32_t EVEN_BYTES = 0x00ff00ffu;

GB_INLINE uint32_t odd_bytes(uint32_t x) {
#if !defined(__GPUBENCH_CPU__)
  return __byte_perm(x, 0, 0x4341);
#else
  return x >> 8 & EVEN_BYTES;
#endif
}

// Bytes, four at a time; spans below 2^8. In each half of a word two of them are multiplied and
// added.
template <>
struct Trade<1> {
  uint32_t span;
  // The addend of each byte.
  uint32_t lows;
  static constexpr uint32_t WORDS = 1;
  GB_INLINE void mix(uint32_t *words) const {
    const uint32_t even = (words[0] & EVEN_BYTES) * span, odd = odd_bytes(words[0]) * span;
    const uint32_t even_traded = even + odd_bytes((odd & EVEN_BYTES) * span), odd_traded = odd + odd_bytes((even & EVEN_BYTES) * span);
#if !defined(__GPUBENCH_CPU__)
    const uint32_t offsets = __byte_perm(even_traded, odd_traded, 0x7351);
#else
    const uint32_t offsets = odd_bytes(even_traded) | (odd_traded & ~EVEN_BYTES);
#endif
    // The highest bits are added without their carries, so that no sum carries into the next byte.
    words[0] = ((offsets & 0x7f7f7f7fu) + (lows & 0x7f7f7f7fu)) ^ ((offsets ^ lows) & 0x80808080u);
  }
};

template <class E>
GB_INLINE void fill_traded_bytes(const gb_fill_args &a, const Task &task) {
  const Trade<1> trade = {(uint32_t)a.span, (uint32_t)(a.low & 0xff) * 0x01010101u};
  each_element<E, 1>(a, task, GB_MIX {
    GB_LANES for (uint32_t w = 0; w < 4 * Run<E, 1>::BLOCKS; ++w) trade.mix(words + w);
  }, AsDrawn{});
}

template <class E>
GB_INLINE void fill_integers(const gb_fill_args &a, const Task &task) {
  constexpr uint32_t SIZE = sizeof(typename E::Bits);
  const bool exact = Offset<E>::is_exact(a.low, a.span);
  if constexpr (SIZE == 1 && !E::FLOATING) {
    if (is_traded<8>(a.span)) return fill_traded_bytes<E>(a, task);
  }
  if constexpr (SIZE <= 2) {
    if (exact && is_narrow<16>(a.span)) return fill_narrow_integers<E, 2>(a, task);
  }
  if constexpr (SIZE == 2) {
    if (exact && is_traded<16>(a.span)) return fill_traded_integers<E, 2>(a, task);
  }
  if (exact && is_narrow<32>(a.span)) return fill_narrow_integers<E, SIZE == 8 ? 8 : 4>(a, task);
  if constexpr (SIZE == 4) {
    if (exact && is_traded<32>(a.span)) return fill_traded_integers<E, 4>(a, task);
    if constexpr (E::FLOATING) {
      if (Converted<E>::is_exact(a.low, a.span) && is_traded<32>(a.span)) return fill_traded_integers<E, 4, Converted<E>>(a, task);
    }
  }
  const Bounds<typename E::Real> bounds = fill_bounds<E>(a);
  const uint64_t low = (uint64_t)a.low, span = a.span;
  each_element<E, 8>(a, task, GB_MAKE {
    const uint64_t offset = span == 0 ? Draw<8>::whole(words, i) : Draw<8>::below_wide(words, i, span);
    return OfInteger<E>::made(low + offset, bounds);
  });
}

}  // namespace gb
