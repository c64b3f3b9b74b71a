// The bounds between which the elements of a fill are clamped, so that rounding to the element type
// does not leave the range.
#pragma once

#include "element.cuh"

namespace gb {

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

// The values between which elements are clamped.
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
  // Rounding to nearest is off by at most one step, or by two steps if it happens twice.
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
  static GB_INLINE Bounds<Real> half_open(double a, double b) { return Bounds<Real>{at_least(a) + (Real)0, below(b)}; }
  // The last integer may have no representation, and rounding must not leave the range. A double
  // keeps its upper 53 bits.
  static GB_INLINE Bounds<Real> integers(int64_t first, int64_t last) {
    return Bounds<Real>{at_least((double)first) + (Real)0, at_most(last < (1ll << 53) ? (double)last : (double)(last & ~0x7ffll))};
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
  // Rounds down. The value must be in the range of the type.
  static GB_INLINE float settled(float x) {
    const int32_t whole = (int32_t)x;
    return (float)(whole - (x < (float)whole));
  }
  static GB_INLINE double settled(double x) { return floor(x); }
};

// This form compiles to one instruction for each bound on a GPU. The other branch gives the same
// result for signed zeros: a lowest zero is positive, and a negative zero is below a positive one.
GB_INLINE float held(float x, const Bounds<float> bounds) {
#if !defined(__GPUBENCH_CPU__)
  return fminf(fmaxf(x, bounds.lowest), bounds.highest);
#else
  x = x > bounds.lowest ? x : bounds.lowest;
  return bounds.highest < x ? bounds.highest : x;
#endif
}

GB_INLINE double held(double x, const Bounds<double> bounds) {
  x = x > bounds.lowest ? x : bounds.lowest;
  return bounds.highest < x ? bounds.highest : x;
}

template <class E>
GB_INLINE Bounds<typename E::Real> fill_bounds(const gb_fill_args &a) {
  typedef Range<E> R;
  if (a.kind == GB_FILL_UNIFORM) return R::half_open(a.a, a.b);
  if (a.kind == GB_FILL_INTEGERS) return R::integers(a.low, (int64_t)((uint64_t)a.low + a.span - 1));
  return R::all();
}

}  // namespace gb
