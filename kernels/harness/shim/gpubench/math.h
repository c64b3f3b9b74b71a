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
static inline unsigned long long ullmin(unsigned long long a, unsigned long long b) { return a < b ? a : b; }
static inline unsigned long long ullmax(unsigned long long a, unsigned long long b) { return a < b ? b : a; }
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
static inline float fdividef(float a, float b) { return a / b; }
static inline float saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
static inline float __saturatef(float x) { return saturatef(x); }

/* Macros, because glibc itself declares some of these names. */
static inline void gb_sincosf(float x, float *s, float *c) { *s = std::sin(x), *c = std::cos(x); }
#define __sinf(x) (sinf(x))
#define __cosf(x) (cosf(x))
#define __tanf(x) (tanf(x))
#define __tanhf(x) (tanhf(x))
#define __expf(x) (expf(x))
#define __exp10f(x) (exp10f(x))
#define __exp2f(x) (exp2f(x))
#define __logf(x) (logf(x))
#define __log2f(x) (log2f(x))
#define __log10f(x) (log10f(x))
#define __powf(x, y) (powf(x, y))
#define __sincosf(x, s, c) gb_sincosf(x, s, c)
static inline float __fdividef(float a, float b) { return a / b; }
