// Uniform numbers of a floating-point type: a linear function from a draw to its number, one fused
// operation each.
#pragma once

#include "bounds.cuh"
#include "draw.cuh"

namespace gb {

// number(t) = slope * t + intercept, for the `t` of draws from the lowest, `Notch<BYTES>::first()`,
// to the highest.
//
// It rises with t. If the two outermost numbers are in [a, b) and stay there when they are rounded
// to `E`, so do all others.
template <class E, uint32_t BYTES>
struct Ramp {
  typedef typename E::Real Real;
  typedef Notch<BYTES> Draws;
  Draws draws;
  Real slope;
  Real intercept;
  // Whether there is such a line. There is none for ranges that leave the exponents of `Real`
  // little room, or that hold few of its numbers.
  bool fits;

  static GB_INLINE Ramp between(double a, double b) {
    const Bounds<Real> bounds = Range<E>::half_open(a, b);
    // The limits of the first and the last number: half a step of `E` outside the range, where
    // rounding to `E` would pass them.
    const double least = greater((double)bounds.lowest - half_step_below((double)bounds.lowest), a);
    const double highest = (double)bounds.highest + half_step_above((double)bounds.highest);
    const double most = lesser(highest, b - (b - a) * Draws::step());
    Ramp ramp = through(least, most, bounds);
    // The rounding error of the line itself: two steps of the largest number in it.
    const double largest = greater(greater(-a, b), (double)Draws::first() * (double)ramp.slope);
    const double inset = largest * (sizeof(Real) == 4 ? 0x1p-22 : 0x1p-51);
    if (!ramp.fits) ramp = through(least, most - inset, bounds);
    if (!ramp.fits) ramp = through(least + inset, most - inset, bounds);
    return ramp;
  }
  GB_INLINE Real number(const uint32_t *words, uint32_t i) const { return at(draws.of(words, i)); }

 private:
  GB_INLINE Real at(Real t) const { return fused(slope, t, intercept); }

  static GB_INLINE Ramp through(double least, double most, const Bounds<Real> bounds) {
    const double slope = (most - least) / ((double)Draws::last() - (double)Draws::first());
    Ramp ramp = {Draws::prepared(), (Real)slope, (Real)(least - slope * (double)Draws::first()), true};
    const Real lowest = rounded(ramp.at(Draws::first())), highest = rounded(ramp.at(Draws::last()));
    constexpr double SMALLEST = sizeof(Real) == 4 ? 0x1p-100 : 0x1p-1000, LARGEST = sizeof(Real) == 4 ? 0x1p100 : 0x1p1000;
    ramp.fits = slope >= SMALLEST && slope <= LARGEST && lowest >= bounds.lowest && highest <= bounds.highest;
    return ramp;
  }
  static GB_INLINE Real rounded(Real x) { return E::real(E::nearest(x)); }
  static GB_INLINE double lesser(double x, double y) { return y < x ? y : x; }
  static GB_INLINE double greater(double x, double y) { return y > x ? y : x; }
  // For a `Real` wider than `E`. Less by a part of 2^10, so that the number is not on the border
  // itself.
  static GB_INLINE double half_step_above(double x) { return half_step(x, Range<E>::value(next_above(Range<E>::near(x)))); }
  static GB_INLINE double half_step_below(double x) { return half_step(x, Range<E>::value(next_below(Range<E>::near(x)))); }
  static GB_INLINE double half_step(double x, double next) {
    constexpr double SHARE = sizeof(typename E::Bits) <= 2 ? 0.5 - 0x1p-11 : 0.0;
    const double step = next > x ? next - x : x - next;
    return step <= DOUBLE_MAX ? step * SHARE : 0.0;
  }
};

}  // namespace gb
