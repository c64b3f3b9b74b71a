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

GB_INLINE bool narrow(const gb_fill_args &a) { return a.span != 0 && a.span <= NARROW_SPAN; }

// All values of an integer type, shifted or not, are all its bit patterns.
template <class E>
GB_INLINE uint32_t drawn_kind(const gb_fill_args &a) {
  constexpr uint32_t BITS = 8 * sizeof(typename E::Bits);
  const uint64_t all = BITS == 64 ? 0 : 1ull << (BITS & 63);
  return !E::FLOATING && a.kind == GB_FILL_INTEGERS && a.span == all ? (uint32_t)GB_FILL_BITS : a.kind;
}

// Elements of a run.
template <class E>
GB_INLINE uint32_t fill_length(const gb_fill_args &a) {
  switch (drawn_kind<E>(a)) {
    case GB_FILL_INTEGERS: return narrow(a) ? BATCH_WORDS : BATCH_WORDS / 2;
    case GB_FILL_BITS: return GB_RUN_BYTES / sizeof(typename E::Bits);
    default: return Draws<typename E::Real>::PER_RUN;
  }
}

template <class E>
GB_INLINE Bounds<typename E::Real> fill_bounds(const gb_fill_args &a) {
  typedef Range<E> R;
  if (a.kind == GB_FILL_UNIFORM) return R::half_open(a.a, a.b);
  if (a.kind == GB_FILL_INTEGERS) return R::integers(a.low, (int64_t)((uint64_t)a.low + a.span - 1));
  return R::all();
}

template <class E>
GB_INLINE void store_reals(const gb_fill_args &a, const uint32_t *words, typename E::Bits *out, uint32_t n) {
  typedef typename E::Real Real;
  typedef Draws<Real> D;
  const Bounds<Real> bounds = fill_bounds<E>(a);
  const Real p = (Real)a.a, q = (Real)a.b;
  // Integers are rounded down below; normal ones go to the nearest.
  const Real centre = E::FLOATING ? p : p + (Real)0.5;
  Real values[D::PER_RUN];
  if (a.kind == GB_FILL_UNIFORM) {
    GB_LANES for (uint32_t i = 0; i < D::PER_RUN; ++i) {
      const Real u = D::unit(words, i);
      values[i] = p * ((Real)1 - u) + q * u;
    }
  } else {
    GB_LANES for (uint32_t i = 0; i < D::PER_RUN / 2; ++i) {
      Real first, second;
      normal_pair<Real>(words, i, &first, &second);
      values[2 * i] = centre + q * first;
      values[2 * i + 1] = centre + q * second;
    }
  }
  GB_EACH(i, n, D::PER_RUN) out[i] = E::nearest(Range<E>::settled(held(values[i], bounds)));
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

template <class E>
GB_INLINE void store_integers(const gb_fill_args &a, const uint32_t *words, typename E::Bits *out, uint32_t n) {
  const Bounds<typename E::Real> bounds = fill_bounds<E>(a);
  const uint32_t span_low = (uint32_t)a.span, span_high = (uint32_t)(a.span >> 32);
  const int64_t low = a.low;
  if (narrow(a)) {
    GB_EACH(i, n, BATCH_WORDS) {
      out[i] = OfInteger<E>::narrow(low, (uint32_t)((uint64_t)words[i] * span_low >> 32), bounds);
    }
  } else if (a.span == 0) {
    GB_EACH(i, n, BATCH_WORDS / 2) {
      out[i] = OfInteger<E>::wide((uint64_t)low + (words[2 * i] | (uint64_t)words[2 * i + 1] << 32), bounds);
    }
  } else {
    GB_EACH(i, n, BATCH_WORDS / 2) {
      const uint64_t offset = scaled(words[2 * i], words[2 * i + 1], span_low, span_high);
      out[i] = OfInteger<E>::wide((uint64_t)low + offset, bounds);
    }
  }
}

template <class E>
GB_INLINE void store_bits(const uint32_t *words, typename E::Bits *out, uint32_t n) {
  const typename E::Bits *bits = (const typename E::Bits *)words;
  GB_EACH(i, n, GB_RUN_BYTES / sizeof(typename E::Bits)) out[i] = bits[i];
}

template <class E>
GB_INLINE void store_elements(const gb_fill_args &a, const uint32_t *words, uint64_t start, uint32_t n) {
  typename E::Bits *out = (typename E::Bits *)a.out + start;
  switch (drawn_kind<E>(a)) {
    case GB_FILL_INTEGERS: store_integers<E>(a, words, out, n); break;
    case GB_FILL_BITS: store_bits<E>(words, out, n); break;
    default: store_reals<E>(a, words, out, n); break;
  }
}

GB_INLINE uint32_t run_length(const gb_fill_args &a) {
#define GB_LENGTH(E) return fill_length<E>(a)
  GB_FOR_DTYPE(a.dtype, GB_LENGTH)
#undef GB_LENGTH
  return 0;
}

GB_RUN void fill_run(const gb_fill_args &a, uint64_t run, uint32_t length) {
  uint32_t words[BATCH_WORDS];
  random_words(Stream{a.key, a.tensor, STREAM_FILL}, run * BATCH, words);
  const uint64_t start = run * length;
  const uint32_t n = (uint32_t)least(length, a.len - start);
#define GB_STORE(E) store_elements<E>(a, words, start, n)
  GB_FOR_DTYPE(a.dtype, GB_STORE)
#undef GB_STORE
}

}  // namespace gb

extern "C" __global__ void gb_fill(gb_fill_args a) {
  const uint32_t length = gb::run_length(a);
  if (length == 0 || a.kind > GB_FILL_BITS) return;
  const gb::Share share = gb::share_of_thread();
  for (uint64_t run = share.first; run < gb::pieces(a.len, length); run += share.step) gb::fill_run(a, run, length);
}
