/* 16-bit floating-point numbers: stored in 16 bits, computed in `float` or `double`, rounded to
 * nearest even. */
#pragma once

#include "rounding.h"

static inline float gb_half_to_float(unsigned short bits) {
#ifdef __FLT16_MAX__
  return float(gb_bits<_Float16>(bits));
#else
  const unsigned int sign = (bits & 0x8000u) << 16, exponent = bits >> 10 & 31u, fraction = bits & 0x3ffu;
  if (exponent == 31) return gb_bits<float>(sign | 0x7f800000u | fraction << 13);
  if (exponent == 0) return gb_bits<float>(gb_bits<unsigned int>(float(fraction) * 0x1p-24f) | sign);
  return gb_bits<float>(sign | (exponent + 112) << 23 | fraction << 13);
#endif
}

/* Rounds a magnitude to half precision. Adding a power of two aligns the last kept bit with the
 * last bit of a double. */
static inline unsigned short gb_half_from_double(double v) {
#ifdef __FLT16_MAX__
  return gb_bits<unsigned short>(_Float16(v));
#else
  const unsigned short sign = std::signbit(v) ? 0x8000 : 0;
  const double size = std::fabs(v);
  if (size != size) return sign | 0x7e00;
  if (size >= 65520.0) return sign | 0x7c00;
  if (size < 0x1p-14) return sign | (unsigned short)(std::nearbyint(size * 0x1p24));
  int exponent;
  const double fraction = std::frexp(size, &exponent); /* in [0.5, 1) */
  const unsigned int kept = (unsigned int)std::nearbyint(fraction * 2048.0);
  return (unsigned short)(sign | (((unsigned int)(exponent + 14) << 10) + (kept - 1024)));
#endif
}
static inline unsigned short gb_half_from_float(float v) {
#ifdef __FLT16_MAX__
  return gb_bits<unsigned short>(_Float16(v));
#else
  return gb_half_from_double(v);
#endif
}

static inline float gb_bfloat_to_float(unsigned short bits) { return gb_bits<float>((unsigned int)bits << 16); }
static inline unsigned short gb_bfloat_from_float(float v) {
  const unsigned int bits = gb_bits<unsigned int>(v);
  if (v != v) return 0x7fff;
  return (unsigned short)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}
/* The first rounding is to odd, so that the second one knows what the first one dropped. */
static inline unsigned short gb_bfloat_from_double(double v) {
  float narrow = float(v);
  if (double(narrow) != v && v == v && !std::isinf(v)) {
    if (std::fabs(double(narrow)) > std::fabs(v)) narrow = std::nextafter(narrow, 0.0f);
    narrow = gb_bits<float>(gb_bits<unsigned int>(narrow) | 1u);
  }
  return gb_bfloat_from_float(narrow);
}

#define GB_SHORT_FLOAT(T, Raw, to_float, from_float, from_double)                                                       \
  struct __attribute__((aligned(2))) Raw {                                                                              \
    unsigned short x;                                                                                                   \
  };                                                                                                                    \
  struct __attribute__((aligned(2))) T {                                                                                \
    unsigned short __x;                                                                                                 \
    T() = default;                                                                                                      \
    T(Raw raw) : __x(raw.x) {}                                                                                          \
    T(float v) : __x(from_float(v)) {}                                                                                  \
    T(double v) : __x(from_double(v)) {}                                                                                \
    template <class I, class = std::enable_if_t<std::is_integral<I>::value>>                                            \
    T(I v) : __x(from_double(double(v))) {}                                                                             \
    operator float() const { return to_float(__x); }                                                                    \
    operator Raw() const { return {__x}; }                                                                              \
    T &operator=(float v) { return __x = from_float(v), *this; }                                                        \
    T &operator=(double v) { return __x = from_double(v), *this; }                                                      \
    template <class I, class = std::enable_if_t<std::is_integral<I>::value>>                                            \
    T &operator=(I v) { return __x = from_double(double(v)), *this; }                                                   \
    T &operator+=(T o) { return *this = T(float(*this) + float(o)); }                                                   \
    T &operator-=(T o) { return *this = T(float(*this) - float(o)); }                                                   \
    T &operator*=(T o) { return *this = T(float(*this) * float(o)); }                                                   \
    T &operator/=(T o) { return *this = T(float(*this) / float(o)); }                                                   \
    T &operator++() { return *this = T(float(*this) + 1.0f); }                                                          \
    T &operator--() { return *this = T(float(*this) - 1.0f); }                                                          \
  };                                                                                                                    \
  static inline T operator+(T a, T b) { return T(float(a) + float(b)); }                                                \
  static inline T operator-(T a, T b) { return T(float(a) - float(b)); }                                                \
  static inline T operator*(T a, T b) { return T(float(a) * float(b)); }                                                \
  static inline T operator/(T a, T b) { return T(float(a) / float(b)); }                                                \
  static inline T operator-(T a) { return Raw{(unsigned short)(a.__x ^ 0x8000u)}; }                                     \
  static inline T operator+(T a) { return a; }                                                                          \
  static inline bool operator==(T a, T b) { return float(a) == float(b); }                                              \
  static inline bool operator!=(T a, T b) { return float(a) != float(b); }                                              \
  static inline bool operator<(T a, T b) { return float(a) < float(b); }                                                \
  static inline bool operator>(T a, T b) { return float(a) > float(b); }                                                \
  static inline bool operator<=(T a, T b) { return float(a) <= float(b); }                                              \
  static inline bool operator>=(T a, T b) { return float(a) >= float(b); }
