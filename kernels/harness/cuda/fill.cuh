// `gb_fill`: fresh inputs. Element i is a function of (key, tensor, i) and of what is drawn from, whatever the geometry.
#pragma once

#include "bounds.cuh"
#include "draw.cuh"
#include "normal.cuh"

namespace gb {

// All values of an integer type, shifted or not, are all its bit patterns.
template <class E>
GB_INLINE uint32_t drawn_kind(const gb_fill_args &a) {
  constexpr uint32_t BITS = 8 * sizeof(typename E::Bits);
  const bool all = a.span == 0 || (BITS < 64 && a.span == 1ull << (BITS & 63));
  return !E::FLOATING && a.kind == GB_FILL_INTEGERS && all ? (uint32_t)GB_FILL_BITS : a.kind;
}

// Whether multiplying a draw of so many bits by the span and dropping as many is good enough: exact for powers of two, else a
// value's probability is off by 2^-8 of itself at most with 16 bits, and by 2^-16 with 32.
template <uint32_t DRAWN_BITS>
GB_INLINE bool is_narrow(uint64_t span) {
  const bool power_of_two = (span & (span - 1)) == 0;
  return span != 0 && (span <= 1ull << (DRAWN_BITS / 2) || (power_of_two && span < 1ull << DRAWN_BITS));
}

// Makes the words of each run of this share, and has `make(words, i)` turn them into elements.
template <class E, uint32_t BYTES, class Make>
GB_INLINE void each_element(const gb_fill_args &a, const Share share, Make make) {
  typedef Run<E, BYTES> R;
  const Stream stream = {a.key, a.tensor, STREAM_FILL};
  const uint64_t runs = pieces(a.len, R::LENGTH);
  for (uint64_t run = share.first; run < runs; run += share.step) {
    uint32_t words[4 * R::BLOCKS];
    random_words<R::BLOCKS>(stream, run * R::BLOCKS, words);
    typename E::Bits *const out = (typename E::Bits *)a.out + run * R::LENGTH;
    store_run<E, R::LENGTH>(out, (uint32_t)least(R::LENGTH, a.len - run * R::LENGTH), [&](uint32_t i) GB_LAMBDA { return make(words, i); });
  }
}

#define GB_MAKE [&](const uint32_t *words, uint32_t i) GB_LAMBDA -> typename Stored<E>::Made

// A real number as an element: rounded down to an integer, or as it is.
template <class E, bool FLOATING = E::FLOATING>
struct OfReal;

template <class E>
struct OfReal<E, false> {
  static GB_INLINE typename E::Bits made(typename E::Real x) { return E::nearest(Range<E>::settled(x)); }
};

template <class E>
struct OfReal<E, true> {
  static GB_INLINE typename E::Real made(typename E::Real x) { return x; }
};

template <class E>
GB_INLINE void fill_uniform(const gb_fill_args &a, const Share share) {
  typedef typename E::Real Real;
  constexpr uint32_t BYTES = real_bytes<E>();
  const Bounds<Real> bounds = fill_bounds<E>(a);
  const Real p = (Real)a.a, q = (Real)a.b;
  each_element<E, BYTES>(a, share, GB_MAKE {
    const Real u = Draw<BYTES>::unit(words, i);
    return OfReal<E>::made(held(fused(q, u, fused(-p, u, p)), bounds));
  });
}

template <class E>
GB_INLINE void fill_normal(const gb_fill_args &a, const Share share) {
  typedef typename E::Real Real;
  constexpr uint32_t BYTES = real_bytes<E>();
  const Real mean = (Real)a.a, deviation = (Real)a.b;
  if constexpr (E::FLOATING && sizeof(Real) == 4) {
    // No number is as much as 8 standard deviations from the mean.
    const float reach = fused(8.0f, deviation, mean < 0 ? -mean : mean);
    if (scales_terms(deviation) && reach < fill_bounds<E>(a).highest) {
      const Normal<BYTES> normal = Normal<BYTES>::scaled(deviation);
      each_element<E, BYTES>(a, share, GB_MAKE { return normal.number(words, i, mean); });
      return;
    }
  }
  // Integers are rounded down below; normal ones go to the nearest.
  const Real centre = E::FLOATING ? mean : mean + (Real)0.5;
  const Bounds<Real> bounds = fill_bounds<E>(a);
  const Normal<BYTES> normal = Normal<BYTES>::scaled(1.0f);
  each_element<E, BYTES>(a, share, GB_MAKE {
    return OfReal<E>::made(held(fused(deviation, (Real)normal.number(words, i, 0.0f), centre), bounds));
  });
}

// low + offset, as an integer or as a real number that is exact in `Real`.
template <class E, bool FLOATING = E::FLOATING>
struct Offset;

template <class E>
struct Offset<E, false> {
  typename E::Bits low;
  static GB_INLINE bool is_exact(int64_t, uint64_t) { return true; }
  static GB_INLINE Offset from(int64_t low) { return Offset{(typename E::Bits)low}; }
  GB_INLINE typename E::Bits plus(uint32_t offset, const Bounds<typename E::Real>) const { return (typename E::Bits)(low + (typename E::Bits)offset); }
};

// The offset is put in the last places of a power of two, which `base` takes away again.
template <class E>
struct Offset<E, true> {
  typedef typename E::Real Real;
  Real base;
  static constexpr int64_t POWER = sizeof(Real) == 4 ? 1ll << 23 : 1ll << 52;
  static GB_INLINE bool is_exact(int64_t low, uint64_t span) {
    return low >= -(POWER / 2) && low <= POWER / 2 && span <= (uint64_t)POWER / 2;
  }
  static GB_INLINE Offset from(int64_t low) { return Offset{(Real)(low - POWER)}; }
  GB_INLINE Real plus(uint32_t offset, const Bounds<Real> bounds) const {
    if constexpr (sizeof(Real) == 8) {
      return double_of(0x4330000000000000ull | offset) + base;
    } else {
      const Real x = float_of(0x4b000000u | offset) + base;
      // A short type may not have the outermost integers.
      return sizeof(typename E::Bits) == 2 ? held(x, bounds) : x;
    }
  }
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

template <class E, uint32_t BYTES>
GB_INLINE void fill_narrow_integers(const gb_fill_args &a, const Share share, const Bounds<typename E::Real> bounds) {
  const Offset<E> low = Offset<E>::from(a.low);
  const uint32_t span = (uint32_t)a.span;
  each_element<E, BYTES>(a, share, GB_MAKE { return low.plus(Draw<BYTES>::below(words, i, span), bounds); });
}

template <class E>
GB_INLINE void fill_integers(const gb_fill_args &a, const Share share) {
  constexpr uint32_t SIZE = sizeof(typename E::Bits);
  const Bounds<typename E::Real> bounds = fill_bounds<E>(a);
  const bool exact = Offset<E>::is_exact(a.low, a.span);
  if constexpr (SIZE <= 2) {
    if (exact && is_narrow<16>(a.span)) return fill_narrow_integers<E, 2>(a, share, bounds);
  }
  if (exact && is_narrow<32>(a.span)) return fill_narrow_integers<E, SIZE == 8 ? 8 : 4>(a, share, bounds);
  const uint64_t low = (uint64_t)a.low, span = a.span;
  each_element<E, 8>(a, share, GB_MAKE {
    const uint64_t offset = span == 0 ? Draw<8>::whole(words, i) : Draw<8>::below_wide(words, i, span);
    return OfInteger<E>::made(low + offset, bounds);
  });
}

template <class E>
GB_INLINE void fill_bits(const gb_fill_args &a, const Share share) {
  typedef typename E::Bits Bits;
  const Stream stream = {a.key, a.tensor, STREAM_FILL};
  constexpr uint32_t LENGTH = GB_RUN_BYTES / sizeof(Bits);
  const uint64_t runs = pieces(a.len, LENGTH);
  for (uint64_t run = share.first; run < runs; run += share.step) {
    uint32_t words[BATCH_WORDS];
    random_words<BATCH>(stream, run * BATCH, words);
    Bits *const out = (Bits *)a.out + run * LENGTH;
    const uint32_t n = (uint32_t)least(LENGTH, a.len - run * LENGTH);
#if !defined(__GPUBENCH_CPU__)
    if (n == LENGTH && (uint64_t)out % 16 == 0) {
      *(uint4 *)out = make_uint4(words[0], words[1], words[2], words[3]);
      continue;
    }
    GB_EACH(i, n, LENGTH) out[i] = ((const Bits *)words)[i];
#else
    __builtin_memcpy(out, words, n * sizeof(Bits));
#endif
  }
}

#undef GB_MAKE

template <class E>
GB_INLINE void fill_elements(const gb_fill_args &a, const Share share) {
  switch (drawn_kind<E>(a)) {
    case GB_FILL_UNIFORM: fill_uniform<E>(a, share); break;
    case GB_FILL_NORMAL: fill_normal<E>(a, share); break;
    case GB_FILL_INTEGERS: fill_integers<E>(a, share); break;
    default: fill_bits<E>(a, share); break;
  }
}

GB_INLINE void fill_dtype(const gb_fill_args &a, const Share share) {
#define GB_FILL(E) fill_elements<E>(a, share)
  GB_FOR_DTYPE(a.dtype, GB_FILL)
#undef GB_FILL
}

#if defined(GB_PHILOX_AVX2)
// Without the instruction a fused operation is a call.
__attribute__((target("avx2,fma"), noinline)) static void fill_share_fused(const gb_fill_args &a, const Share share) {
  fill_dtype(a, share);
}
#endif

GB_RUN void fill_share_portably(const gb_fill_args &a, const Share share) { fill_dtype(a, share); }

GB_INLINE void fill_share(const gb_fill_args &a, const Share share) {
#if defined(GB_PHILOX_AVX2)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    fill_share_fused(a, share);
    return;
  }
#endif
  fill_share_portably(a, share);
}

}  // namespace gb

GB_KERNEL(4) gb_fill(gb_fill_args a) {
  gb::after_earlier_work();
  if (a.kind <= GB_FILL_BITS) gb::fill_share(a, gb::share_of_thread());
}
