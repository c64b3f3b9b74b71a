/* CUDA's mathematical functions that the C library lacks, and its fast variants, which are the
 * accurate ones here. */
#pragma once

#include <math.h>

template <class A, class B, class = std::enable_if_t<std::is_arithmetic<A>::value && std::is_arithmetic<B>::value>>
static inline constexpr std::common_type_t<A, B> min(A a, B b) {
  using T = std::common_type_t<A, B>;
  if constexpr (std::is_floating_point<T>::value) return sizeof(T) == 4 ? T(__builtin_fminf(a, b)) : T(__builtin_fmin(a, b));
  else return T(b) < T(a) ? T(b) : T(a);
}
template <class A, class B, class = std::enable_if_t<std::is_arithmetic<A>::value && std::is_arithmetic<B>::value>>
static inline constexpr std::common_type_t<A, B> max(A a, B b) {
  using T = std::common_type_t<A, B>;
  if constexpr (std::is_floating_point<T>::value) return sizeof(T) == 4 ? T(__builtin_fmaxf(a, b)) : T(__builtin_fmax(a, b));
  else return T(a) < T(b) ? T(b) : T(a);
}
static inline unsigned int umin(unsigned int a, unsigned int b) { return a < b ? a : b; }
static inline unsigned int umax(unsigned int a, unsigned int b) { return a < b ? b : a; }
static inline long long llmin(long long a, long long b) { return a < b ? a : b; }
static inline long long llmax(long long a, long long b) { return a < b ? b : a; }

#define GB_PI 3.14159265358979323846264338327950288
/* Reduced before the multiplication, so whole and half numbers give exact results. */
static inline double sinpi(double x) {
  const double r = x - 2.0 * std::floor(x * 0.5); /* in [0, 2) */
  if (r == 0.0 || r == 1.0) return std::copysign(0.0, x);
  return r < 0.5 ? std::sin(GB_PI * r) : r <= 1.5 ? std::sin(GB_PI * (1.0 - r)) : std::sin(GB_PI * (r - 2.0));
}
static inline double cospi(double x) {
  const double r = std::fabs(x) - 2.0 * std::floor(std::fabs(x) * 0.5);
  if (r == 0.5 || r == 1.5) return 0.0;
  return r <= 0.25 ? std::cos(GB_PI * r) : r < 0.75 ? std::sin(GB_PI * (0.5 - r)) : r <= 1.25 ? -std::cos(GB_PI * (1.0 - r))
       : r < 1.75 ? std::sin(GB_PI * (r - 1.5)) : std::cos(GB_PI * (2.0 - r));
}
static inline float sinpif(float x) { return float(sinpi(double(x))); }
static inline float cospif(float x) { return float(cospi(double(x))); }
static inline void sincospi(double x, double *s, double *c) { *s = sinpi(x), *c = cospi(x); }
static inline void sincospif(float x, float *s, float *c) { *s = sinpif(x), *c = cospif(x); }
static inline double rsqrt(double x) { return 1.0 / std::sqrt(x); }
static inline float rsqrtf(float x) { return 1.0f / std::sqrt(x); }
static inline double rcbrt(double x) { return 1.0 / std::cbrt(x); }
static inline float rcbrtf(float x) { return 1.0f / std::cbrt(x); }
static inline double rhypot(double x, double y) { return 1.0 / std::hypot(x, y); }
static inline float rhypotf(float x, float y) { return 1.0f / std::hypot(x, y); }
static inline double norm3d(double a, double b, double c) { return std::hypot(a, b, c); }
static inline float norm3df(float a, float b, float c) { return std::hypot(a, b, c); }
static inline double rnorm3d(double a, double b, double c) { return 1.0 / std::hypot(a, b, c); }
static inline float rnorm3df(float a, float b, float c) { return 1.0f / std::hypot(a, b, c); }
static inline double norm4d(double a, double b, double c, double d) { return std::hypot(std::hypot(a, b), std::hypot(c, d)); }
static inline float norm4df(float a, float b, float c, float d) { return std::hypot(std::hypot(a, b), std::hypot(c, d)); }
static inline float fdividef(float a, float b) { return a / b; }
static inline double normcdf(double x) { return 0.5 * std::erfc(x * -0.70710678118654752440); }
static inline float normcdff(float x) { return float(normcdf(double(x))); }
static inline double erfcx(double x) { return std::exp(x * x) * std::erfc(x); }
static inline float erfcxf(float x) { return float(erfcx(double(x))); }
static inline float saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
static inline float __saturatef(float x) { return saturatef(x); }

/* Macros, because glibc itself declares some of these names. */
static inline void gb_sincosf(float x, float *s, float *c) { *s = std::sin(x), *c = std::cos(x); }
#define __sinf(x) (sinf(x))
#define __cosf(x) (cosf(x))
#define __tanf(x) (tanf(x))
#define __expf(x) (expf(x))
#define __exp10f(x) (exp10f(x))
#define __exp2f(x) (exp2f(x))
#define __logf(x) (logf(x))
#define __log2f(x) (log2f(x))
#define __log10f(x) (log10f(x))
#define __powf(x, y) (powf(x, y))
#define __sincosf(x, s, c) gb_sincosf(x, s, c)
static inline float __fdividef(float a, float b) { return a / b; }
static inline float __frsqrt_rn(float x) { return 1.0f / std::sqrt(x); }
static inline float __fsqrt_rn(float x) { return std::sqrt(x); }
static inline float __frcp_rn(float x) { return 1.0f / x; }
static inline double __drcp_rn(double x) { return 1.0 / x; }
static inline double __dsqrt_rn(double x) { return std::sqrt(x); }
static inline float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
static inline double __fma_rn(double a, double b, double c) { return __builtin_fma(a, b, c); }
static inline float __fdiv_rn(float a, float b) { return a / b; }
static inline double __ddiv_rn(double a, double b) { return a / b; }
/* Never contracted into a multiply-add, as in CUDA. */
#define GB_UNFUSED(name, type, op)                  \
  static inline type name(type a, type b) {         \
    type r = a op b;                                \
    __asm__("" : "+x"(r));                          \
    return r;                                       \
  }
#if defined(__x86_64__)
GB_UNFUSED(__fadd_rn, float, +)
GB_UNFUSED(__fsub_rn, float, -)
GB_UNFUSED(__fmul_rn, float, *)
GB_UNFUSED(__dadd_rn, double, +)
GB_UNFUSED(__dsub_rn, double, -)
GB_UNFUSED(__dmul_rn, double, *)
#endif
#undef GB_UNFUSED

/* Conversions. As on a GPU, out-of-range values saturate and NaN becomes 0. */
template <class To, class From>
static inline To gb_saturate(From v) {
  constexpr To low = std::numeric_limits<To>::min(), high = std::numeric_limits<To>::max();
  if (v != v) return 0;
  if (v <= From(low)) return low;
  if (v >= From(high)) return high;
  return To(v);
}
#define GB_CONVERSIONS(from, name, to, type)                                                       \
  static inline type __##name##2##to##_rn(from v) { return gb_saturate<type>(std::nearbyint(v)); } \
  static inline type __##name##2##to##_rz(from v) { return gb_saturate<type>(std::trunc(v)); }     \
  static inline type __##name##2##to##_ru(from v) { return gb_saturate<type>(std::ceil(v)); }      \
  static inline type __##name##2##to##_rd(from v) { return gb_saturate<type>(std::floor(v)); }
GB_CONVERSIONS(float, float, int, int)
GB_CONVERSIONS(float, float, uint, unsigned int)
GB_CONVERSIONS(float, float, ll, long long)
GB_CONVERSIONS(float, float, ull, unsigned long long)
GB_CONVERSIONS(double, double, int, int)
GB_CONVERSIONS(double, double, uint, unsigned int)
GB_CONVERSIONS(double, double, ll, long long)
GB_CONVERSIONS(double, double, ull, unsigned long long)
#undef GB_CONVERSIONS
static inline float __int2float_rn(int v) { return float(v); }
static inline float __uint2float_rn(unsigned int v) { return float(v); }
static inline float __ll2float_rn(long long v) { return float(v); }
static inline float __ull2float_rn(unsigned long long v) { return float(v); }
static inline double __int2double_rn(int v) { return double(v); }
static inline double __uint2double_rn(unsigned int v) { return double(v); }
static inline double __ll2double_rn(long long v) { return double(v); }
static inline double __ull2double_rn(unsigned long long v) { return double(v); }
static inline float __double2float_rn(double v) { return float(v); }
