/* Mathematical functions that the C library lacks: inverses of the error function, scaled
 * complements, Bessel functions, norms. */
#pragma once

#define GB_SQRT_PI 1.77245385090551602729816748334114518

/* `exp(x * x) * erfc(x)`. The square is a sum of two numbers, because its rounding error would grow
 * with `x`. */
static inline double erfcx(double x) {
  if (x < 25.0) {
    const double square = x * x, rest = __builtin_fma(x, x, -square);
    const double power = std::exp(square);
    return std::isinf(power) ? power : (power + power * rest) * std::erfc(x);
  }
  /* The asymptotic series, from its last term that matters. */
  const double step = 0.5 / (x * x);
  double sum = 1.0;
  for (int k = 9; k > 0; k--) sum = 1.0 - (2 * k - 1) * step * sum;
  return sum / (x * GB_SQRT_PI);
}

/* A value within 1 % of the inverse of `erf`, from `log(1 - y * y)`. */
static inline double gb_rough_erfinv(double logarithm) {
  const double a = 0.147, b = 2.0 / (GB_PI * a) + 0.5 * logarithm;
  return std::sqrt(std::sqrt(b * b - logarithm / a) - b);
}

/* For `y` up to 1/2, by Newton's method on the logarithm, which is nearly a parabola. */
static inline double gb_erfcinv_of_tail(double y) {
  if (y == 0.0) return HUGE_VAL;
  double x = gb_rough_erfinv(std::log(y * (2.0 - y)));
  for (int i = 0; i < 4; i++) {
    const double scaled = erfcx(x);
    x += (std::log(scaled) - std::log(y) - x * x) * 0.5 * GB_SQRT_PI * scaled;
  }
  return x;
}

/* For `y` between -1/2 and 1/2, by Halley's method. */
static inline double gb_erfinv_of_centre(double y) {
  double x = std::copysign(gb_rough_erfinv(std::log1p(-y * y)), y);
  if (std::fabs(y) < 1e-3) x = y * 0.5 * GB_SQRT_PI;
  for (int i = 0; i < 3; i++) {
    const double error = (std::erf(x) - y) * 0.5 * GB_SQRT_PI * std::exp(x * x);
    x -= error / (1.0 + x * error);
  }
  return y == 0.0 ? y : x;
}

static inline double erfinv(double y) {
  const double size = std::fabs(y);
  if (!(size <= 1.0)) return NAN;
  return size <= 0.5 ? gb_erfinv_of_centre(y) : std::copysign(gb_erfcinv_of_tail(1.0 - size), y);
}
static inline double erfcinv(double y) {
  if (!(y >= 0.0 && y <= 2.0)) return NAN;
  return y < 0.5 ? gb_erfcinv_of_tail(y) : y > 1.5 ? -gb_erfcinv_of_tail(2.0 - y) : gb_erfinv_of_centre(1.0 - y);
}
/* The error of `x / sqrt(2)` would grow in the tail. */
static inline double normcdf(double x) {
  const double high = 0.70710678118654752440, low = -4.8336466567264567e-17;
  const double scaled = -x * high;
  const double error = __builtin_fma(-x, high, -scaled) - x * low;
  const double tail = std::erfc(scaled);
  if (!std::isfinite(error)) return 0.5 * tail;
  return 0.5 * (tail - 2.0 / GB_SQRT_PI * std::exp(-scaled * scaled) * error);
}
static inline double normcdfinv(double p) { return -1.41421356237309504880 * erfcinv(2.0 * p); }

/* The modified Bessel function of order 0 or 1, by a series of positive terms or the asymptotic
 * one. */
template <int Order>
static inline double gb_bessel_i(double x) {
  const double size = std::fabs(x), sign = Order == 1 && x < 0.0 ? -1.0 : 1.0;
  if (!(size < HUGE_VAL)) return sign * size;
  double term = 1.0, sum = 1.0;
  if (size < 40.0) {
    const double quarter = 0.25 * size * size;
    for (int k = 1; term > sum * 1e-17; k++) sum += term *= quarter / (double(k) * (k + Order));
    return sign * sum * (Order == 1 ? 0.5 * size : 1.0);
  }
  for (int k = 1; std::fabs(term) > 1e-17; k++) {
    sum += term *= double((2 * k - 1) * (2 * k - 1) - 4 * Order) / (8.0 * k * size);
  }
  const double root = std::exp(0.5 * size);
  return sign * (root / std::sqrt(2.0 * GB_PI * size) * sum) * root;
}
static inline double cyl_bessel_i0(double x) { return gb_bessel_i<0>(x); }
static inline double cyl_bessel_i1(double x) { return gb_bessel_i<1>(x); }

#define GB_IN_FLOAT(name) \
  static inline float name##f(float x) { return float(name(double(x))); }
GB_IN_FLOAT(erfcx)
GB_IN_FLOAT(erfinv)
GB_IN_FLOAT(erfcinv)
GB_IN_FLOAT(normcdf)
GB_IN_FLOAT(normcdfinv)
GB_IN_FLOAT(cyl_bessel_i0)
GB_IN_FLOAT(cyl_bessel_i1)
#undef GB_IN_FLOAT

/* Square roots of sums of squares. */
static inline double norm3d(double a, double b, double c) { return std::hypot(a, b, c); }
static inline float norm3df(float a, float b, float c) { return std::hypot(a, b, c); }
/* Scaled, so that no square overflows. */
template <class T>
static inline double gb_norm(int count, const T *values) {
  double largest = 0.0, sum = 0.0;
  for (int i = 0; i < count; i++) largest = std::fmax(largest, std::fabs(double(values[i])));
  if (std::isinf(largest)) return largest;
  const int scale = largest == 0.0 ? 0 : std::ilogb(largest);
  for (int i = 0; i < count; i++) {
    const double scaled = std::ldexp(double(values[i]), -scale);
    sum = __builtin_fma(scaled, scaled, sum);
  }
  return std::ldexp(std::sqrt(sum), scale);
}
static inline double norm4d(double a, double b, double c, double d) {
  const double values[] = {a, b, c, d};
  return gb_norm(4, values);
}
static inline float norm4df(float a, float b, float c, float d) { return float(norm4d(a, b, c, d)); }
static inline double norm(int count, const double *values) { return gb_norm(count, values); }
static inline float normf(int count, const float *values) { return float(gb_norm(count, values)); }
static inline double rhypot(double x, double y) { return 1.0 / std::hypot(x, y); }
static inline float rhypotf(float x, float y) { return 1.0f / std::hypot(x, y); }
static inline double rnorm3d(double a, double b, double c) { return 1.0 / norm3d(a, b, c); }
static inline float rnorm3df(float a, float b, float c) { return 1.0f / norm3df(a, b, c); }
static inline double rnorm4d(double a, double b, double c, double d) { return 1.0 / norm4d(a, b, c, d); }
static inline float rnorm4df(float a, float b, float c, float d) { return 1.0f / norm4df(a, b, c, d); }
static inline double rnorm(int count, const double *values) { return 1.0 / gb_norm(count, values); }
static inline float rnormf(int count, const float *values) { return float(1.0 / gb_norm(count, values)); }
