// `gb_fill`: fresh inputs. Element i is a function of (key, tensor, i) and of what is drawn from, whatever the geometry.
#pragma once

#include "element.cuh"
#include "philox.cuh"

namespace gb {

// Integer ranges up to this size are drawn from 32 bits; a value's probability is then off by 2^-16 of itself at most.
constexpr uint64_t NARROW_SPAN = 1u << 16;

// Neighbours of a floating-point number in sign-and-magnitude representation.
template <class Raw>
GB_INLINE Raw next_below(Raw raw) {
  const Raw sign = (Raw)((Raw)1 << (8 * sizeof(Raw) - 1));
  if ((Raw)(raw & (Raw)~sign) == 0) return (Raw)(sign | 1);
  return (Raw)(raw & sign ? raw + 1 : raw - 1);
}

template <class Raw>
GB_INLINE Raw next_above(Raw raw) {
  const Raw sign = (Raw)((Raw)1 << (8 * sizeof(Raw) - 1));
  return (Raw)(next_below((Raw)(raw ^ sign)) ^ sign);
}

// The values that elements are held between.
template <class Real>
struct Bounds {
  Real lowest;
  Real highest;
};

template <class E, bool FLOATING = E::FLOATING>
struct Range;

template <class E>
struct Range<E, true> {
  typedef typename E::Real Real;
  static GB_INLINE double value(typename E::Raw raw) { return (double)E::real(E::of_raw(raw)); }
  static GB_INLINE typename E::Raw near(double x) { return E::raw(E::nearest((Real)x)); }
  // Rounding to nearest is at most one step off, two where it happened twice.
  static GB_INLINE Real at_least(double x) {
    typename E::Raw raw = near(x);
    for (int step = 0; step < 2 && !(value(raw) >= x); ++step) raw = next_above(raw);
    return E::real(E::of_raw(raw));
  }
  static GB_INLINE Real below(double x) {
    typename E::Raw raw = near(x);
    for (int step = 0; step < 2 && !(value(raw) < x); ++step) raw = next_below(raw);
    return E::real(E::of_raw(raw));
  }
  static GB_INLINE Real at_most(double x) {
    typename E::Raw raw = near(x);
    for (int step = 0; step < 2 && !(value(raw) <= x); ++step) raw = next_below(raw);
    return E::real(E::of_raw(raw));
  }
  static GB_INLINE Bounds<Real> all() { return Bounds<Real>{at_least(-DOUBLE_MAX), at_most(DOUBLE_MAX)}; }
  static GB_INLINE Bounds<Real> half_open(double a, double b) { return Bounds<Real>{at_least(a), below(b)}; }
  // The last integer may have no representation, and rounding must not leave the range. A double has its upper 53 bits.
  static GB_INLINE Bounds<Real> integers(int64_t first, int64_t last) {
    return Bounds<Real>{at_least((double)first), at_most(last < (1ll << 53) ? (double)last : (double)(last & ~0x7ffll))};
  }
  static GB_INLINE Real settled(Real x) { return x; }
};

template <class E>
struct Range<E, false> {
  typedef typename E::Real Real;
  static GB_INLINE double ceiling(double x) { return -floor(-x); }
  static GB_INLINE Real held(double x) {
    return x < (double)E::low() ? E::low() : x > (double)E::high() ? E::high() : (Real)x;
  }
  static GB_INLINE Bounds<Real> all() { return Bounds<Real>{E::low(), E::high()}; }
  static GB_INLINE Bounds<Real> half_open(double a, double b) {
    double last = ceiling(b) - 1;
    if (last >= b) last = double_of(next_below(bits_of(b)));
    return Bounds<Real>{held(ceiling(a)), held(last)};
  }
  static GB_INLINE Bounds<Real> integers(int64_t, int64_t) { return all(); }
  // Down, for values in the range of the type.
  static GB_INLINE float settled(float x) {
    const int32_t whole = (int32_t)x;
    return (float)(whole - (x < (float)whole));
  }
  static GB_INLINE double settled(double x) { return floor(x); }
};

template <class Real>
GB_INLINE Real held(Real x, const Bounds<Real> bounds) {
  x = x > bounds.lowest ? x : bounds.lowest;
  return x < bounds.highest ? x : bounds.highest;
}

// Draws of a real type: `PER_RUN` from the words of a run.
template <class Real>
struct Draws;

template <>
struct Draws<float> {
  static constexpr uint32_t PER_RUN = BATCH_WORDS;
  static GB_INLINE float unit(const uint32_t *words, uint32_t i) { return (float)(int32_t)(words[i] >> 8) * 0x1p-24f; }
  // In (0, 1], never 0: its logarithm is taken.
  static GB_INLINE float positive(const uint32_t *words, uint32_t pair) {
    return ((float)(int32_t)(words[2 * pair] >> 1) + 0.5f) * 0x1p-31f;
  }
  // The angle of a pair: its quadrant, and where in it, in [-1/2, 1/2).
  static GB_INLINE uint32_t quadrant(const uint32_t *words, uint32_t pair) { return words[2 * pair + 1] >> 30; }
  static GB_INLINE float within(const uint32_t *words, uint32_t pair) {
    return (float)((int32_t)(words[2 * pair + 1] & 0x3fffffffu) - 0x20000000) * 0x1p-30f;
  }
  // Series of atanh and of sine and cosine on an eighth of the circle, to the precision of the type.
  static constexpr int LOGARITHM_TERMS = 5;
  static constexpr int CIRCLE_TERMS = 6;
  static GB_INLINE int32_t exponent(float x) { return (int32_t)(bits_of(x) - 0x3f3504f3u) >> 23; }
  static GB_INLINE float scaled_down(float x, int32_t exponent) { return float_of(bits_of(x) - ((uint32_t)exponent << 23)); }
  static GB_INLINE float root(float x) {
#if !defined(__GPUBENCH_CPU__)
    return __fsqrt_rn(x);
#else
    return __builtin_sqrtf(x);
#endif
  }
  static GB_INLINE float with_sign(float x, uint32_t negative) { return float_of(bits_of(x) ^ negative << 31); }
};

template <>
struct Draws<double> {
  static constexpr uint32_t PER_RUN = BATCH_WORDS / 2;
  static GB_INLINE double fraction(uint64_t bits) { return double_of(bits >> 12 | 0x3ff0000000000000ull) - 1.0; }
  static GB_INLINE uint64_t wide(const uint32_t *words, uint32_t i) {
    return words[2 * i] | (uint64_t)words[2 * i + 1] << 32;
  }
  static GB_INLINE double unit(const uint32_t *words, uint32_t i) { return fraction(wide(words, i)); }
  static GB_INLINE double positive(const uint32_t *words, uint32_t pair) { return fraction(wide(words, 2 * pair)) + 0x1p-53; }
  static GB_INLINE uint32_t quadrant(const uint32_t *words, uint32_t pair) { return words[4 * pair + 3] >> 30; }
  static GB_INLINE double within(const uint32_t *words, uint32_t pair) {
    return fraction(wide(words, 2 * pair + 1) << 2) - 0.5;
  }
  static constexpr int LOGARITHM_TERMS = 11;
  static constexpr int CIRCLE_TERMS = 10;
  static GB_INLINE int32_t exponent(double x) {
    return (int32_t)((uint32_t)(bits_of(x) >> 32) - 0x3fe6a09eu) >> 20;
  }
  static GB_INLINE double scaled_down(double x, int32_t exponent) {
    return double_of(bits_of(x) - ((uint64_t)(uint32_t)exponent << 52));
  }
  static GB_INLINE double root(double x) {
#if !defined(__GPUBENCH_CPU__)
    return __dsqrt_rn(x);
#else
    return __builtin_sqrt(x);
#endif
  }
  static GB_INLINE double with_sign(double x, uint32_t negative) {
    return double_of(bits_of(x) ^ (uint64_t)negative << 63);
  }
};

// Box and Muller 1958: two normal numbers from two uniform ones. Series instead of a library's functions, so that
// the loop becomes vectors and every device yields the same bits.
template <class Real>
GB_INLINE void normal_pair(const uint32_t *words, uint32_t pair, Real *first, Real *second) {
  typedef Draws<Real> D;
  const Real u = D::positive(words, pair);
  const int32_t exponent = D::exponent(u);
  const Real m = D::scaled_down(u, exponent);
  // ln m = 2 atanh((m - 1) / (m + 1)) with m between the square roots of 1/2 and 2.
  const Real s = (m - 1) / (m + 1), ss = s * s;
  Real series = 0;
  GB_UNROLL for (int k = D::LOGARITHM_TERMS - 1; k >= 0; --k) series = series * ss + (Real)2 / (Real)(2 * k + 1);
  const Real logarithm = (Real)exponent * (Real)0.69314718055994530942 + s * series;
  const Real minus_twice = (Real)-2 * logarithm;
  const Real radius = D::root(minus_twice > 0 ? minus_twice : (Real)0);

  const Real x = D::within(words, pair) * (Real)1.57079632679489661923, xx = x * x;
  Real sine = 0, cosine = 0;
  GB_UNROLL for (int k = D::CIRCLE_TERMS - 1; k >= 1; --k) {
    sine = (sine + 1) * -xx * ((Real)1 / (Real)((2 * k) * (2 * k + 1)));
    cosine = (cosine + 1) * -xx * ((Real)1 / (Real)((2 * k - 1) * (2 * k)));
  }
  sine = (sine + 1) * x;
  cosine = cosine + 1;
  const uint32_t q = D::quadrant(words, pair);
  *first = radius * D::with_sign(q & 1 ? sine : cosine, (q ^ q >> 1) & 1);
  *second = radius * D::with_sign(q & 1 ? cosine : sine, q >> 1);
}

// floor(draw * span / 2^64) in 32-bit products, which vectors have.
GB_INLINE uint64_t scaled(uint32_t low, uint32_t high, uint32_t span_low, uint32_t span_high) {
  const uint64_t ll = (uint64_t)low * span_low, lh = (uint64_t)low * span_high;
  const uint64_t hl = (uint64_t)high * span_low, hh = (uint64_t)high * span_high;
  const uint64_t middle = (ll >> 32) + (uint32_t)lh + (uint32_t)hl;
  return hh + (lh >> 32) + (hl >> 32) + (middle >> 32);
}

// All values of an integer type, shifted or not, are all its bit patterns.
template <class E>
GB_INLINE uint32_t drawn_kind(const gb_fill_args &a) {
  constexpr uint32_t BITS = 8 * sizeof(typename E::Bits);
  const uint64_t all = BITS == 64 ? 0 : 1ull << (BITS & 63);
  return !E::FLOATING && a.kind == GB_FILL_INTEGERS && a.span == all ? (uint32_t)GB_FILL_BITS : a.kind;
}

template <class E>
GB_INLINE Bounds<typename E::Real> fill_bounds(const gb_fill_args &a) {
  typedef Range<E> R;
  if (a.kind == GB_FILL_UNIFORM) return R::half_open(a.a, a.b);
  if (a.kind == GB_FILL_INTEGERS) return R::integers(a.low, (int64_t)((uint64_t)a.low + a.span - 1));
  return R::all();
}

// Integers, as integers or rounded to a floating-point type.
template <class E, bool FLOATING = E::FLOATING>
struct OfInteger;

template <class E>
struct OfInteger<E, false> {
  static GB_INLINE typename E::Bits narrow(int64_t low, uint32_t offset, Bounds<typename E::Real>) {
    return (typename E::Bits)((typename E::Bits)low + (typename E::Bits)offset);
  }
  static GB_INLINE typename E::Bits wide(uint64_t value, Bounds<typename E::Real>) { return (typename E::Bits)value; }
};

template <class E>
struct OfInteger<E, true> {
  typedef typename E::Real Real;
  static GB_INLINE typename E::Bits narrow(int64_t low, uint32_t offset, Bounds<Real> bounds) {
    return E::nearest(held((Real)((double)low + (double)(int32_t)offset), bounds));
  }
  static GB_INLINE typename E::Bits wide(uint64_t value, Bounds<Real> bounds) {
    return E::nearest(held((Real)(double)(int64_t)value, bounds));
  }
};

#if !defined(__GPUBENCH_CPU__)
template <uint32_t BYTES>
struct Vector;
template <>
struct Vector<2> { typedef uint16_t Type; };
template <>
struct Vector<4> { typedef uint32_t Type; };
template <>
struct Vector<8> { typedef uint2 Type; };
template <>
struct Vector<16> { typedef uint4 Type; };
#endif

// Stores element i as `make(i)`, on a GPU all that make a run in one go.
template <uint32_t LENGTH, class T, class Make>
GB_INLINE void store_run(T *out, uint32_t n, Make make) {
#if !defined(__GPUBENCH_CPU__)
  constexpr uint32_t BYTES = LENGTH * sizeof(T);
  typedef typename Vector<BYTES < 16 ? BYTES : 16>::Type Piece;
  alignas(Piece) T elements[LENGTH];
  GB_UNROLL for (uint32_t i = 0; i < LENGTH; ++i) elements[i] = make(i);
  if (n == LENGTH && (uint64_t)out % sizeof(Piece) == 0) {
    GB_UNROLL for (uint32_t i = 0; i < BYTES / sizeof(Piece); ++i) ((Piece *)out)[i] = ((const Piece *)elements)[i];
    return;
  }
  GB_EACH(i, n, LENGTH) out[i] = elements[i];
#else
  for (uint32_t i = 0; i < n; ++i) out[i] = make(i);
#endif
}

// Makes the words of each run of `LENGTH` elements of this share, and has `store(words, out, n)` turn them into elements.
template <uint32_t LENGTH, class T, class Store>
GB_INLINE void each_run(const gb_fill_args &a, const Share share, T *out, Store store) {
  const Stream stream = {a.key, a.tensor, STREAM_FILL};
  const uint64_t runs = pieces(a.len, LENGTH);
  for (uint64_t run = share.first; run < runs; run += share.step) {
    uint32_t words[BATCH_WORDS];
    random_words(stream, run * BATCH, words);
    store(words, out + run * LENGTH, (uint32_t)least(LENGTH, a.len - run * LENGTH));
  }
}

#define GB_STORE [&](const uint32_t *words, typename E::Bits *out, uint32_t n) GB_LAMBDA
#define GB_ELEMENT [&](uint32_t i) GB_LAMBDA

template <class E>
GB_INLINE void fill_reals(const gb_fill_args &a, const Share share) {
  typedef typename E::Real Real;
  typedef Draws<Real> D;
  const Bounds<Real> bounds = fill_bounds<E>(a);
  const Real p = (Real)a.a, q = (Real)a.b;
  if (a.kind == GB_FILL_UNIFORM) {
    each_run<D::PER_RUN>(a, share, (typename E::Bits *)a.out, GB_STORE {
      store_run<D::PER_RUN>(out, n, GB_ELEMENT {
        const Real u = D::unit(words, i);
        return E::nearest(Range<E>::settled(held(p * ((Real)1 - u) + q * u, bounds)));
      });
    });
    return;
  }
  // Integers are rounded down below; normal ones go to the nearest.
  const Real centre = E::FLOATING ? p : p + (Real)0.5;
  each_run<D::PER_RUN>(a, share, (typename E::Bits *)a.out, GB_STORE {
    Real values[D::PER_RUN];
    GB_LANES for (uint32_t i = 0; i < D::PER_RUN / 2; ++i) {
      Real first, second;
      normal_pair<Real>(words, i, &first, &second);
      values[2 * i] = centre + q * first;
      values[2 * i + 1] = centre + q * second;
    }
    store_run<D::PER_RUN>(out, n, GB_ELEMENT { return E::nearest(Range<E>::settled(held(values[i], bounds))); });
  });
}

template <class E>
GB_INLINE void fill_integers(const gb_fill_args &a, const Share share) {
  typename E::Bits *const all = (typename E::Bits *)a.out;
  const Bounds<typename E::Real> bounds = fill_bounds<E>(a);
  const uint32_t span_low = (uint32_t)a.span, span_high = (uint32_t)(a.span >> 32);
  const int64_t low = a.low;
  if (a.span != 0 && a.span <= NARROW_SPAN) {
    each_run<BATCH_WORDS>(a, share, all, GB_STORE {
      store_run<BATCH_WORDS>(out, n, GB_ELEMENT {
        return OfInteger<E>::narrow(low, (uint32_t)((uint64_t)words[i] * span_low >> 32), bounds);
      });
    });
  } else if (a.span == 0) {
    each_run<BATCH_WORDS / 2>(a, share, all, GB_STORE {
      store_run<BATCH_WORDS / 2>(out, n, GB_ELEMENT {
        return OfInteger<E>::wide((uint64_t)low + (words[2 * i] | (uint64_t)words[2 * i + 1] << 32), bounds);
      });
    });
  } else {
    each_run<BATCH_WORDS / 2>(a, share, all, GB_STORE {
      store_run<BATCH_WORDS / 2>(out, n, GB_ELEMENT {
        return OfInteger<E>::wide((uint64_t)low + scaled(words[2 * i], words[2 * i + 1], span_low, span_high), bounds);
      });
    });
  }
}

template <class E>
GB_INLINE void fill_bits(const gb_fill_args &a, const Share share) {
  typedef typename E::Bits Bits;
  constexpr uint32_t LENGTH = GB_RUN_BYTES / sizeof(Bits);
  each_run<LENGTH>(a, share, (Bits *)a.out, GB_STORE {
    store_run<LENGTH>(out, n, GB_ELEMENT { return ((const Bits *)words)[i]; });
  });
}

#undef GB_STORE
#undef GB_ELEMENT

template <class E>
GB_INLINE void fill_elements(const gb_fill_args &a, const Share share) {
  switch (drawn_kind<E>(a)) {
    case GB_FILL_INTEGERS: fill_integers<E>(a, share); break;
    case GB_FILL_BITS: fill_bits<E>(a, share); break;
    default: fill_reals<E>(a, share); break;
  }
}

GB_RUN void fill_share(const gb_fill_args &a, const Share share) {
#define GB_FILL(E) fill_elements<E>(a, share)
  GB_FOR_DTYPE(a.dtype, GB_FILL)
#undef GB_FILL
}

}  // namespace gb

GB_KERNEL(4) gb_fill(gb_fill_args a) {
  gb::after_earlier_work();
  if (a.kind <= GB_FILL_BITS) gb::fill_share(a, gb::share_of_thread());
}
