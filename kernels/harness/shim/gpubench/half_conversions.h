/* Conversions of 16-bit floating-point numbers, with a rounding mode. */
#pragma once
#include "half_pairs.h"

/* A number that rounds to 16 bits as `v` does: exact, or with its last bit set. */
template <class From>
static inline double gb_integer_to_be_rounded(From v) {
  const unsigned long long size = v < From(0) ? 0ull - (unsigned long long)v : (unsigned long long)v;
  if (size < 1ull << 53) return double(v);
  const double kept = 2048.0 * double(size >> 11 | ((size & 2047u) != 0));
  return v < From(0) ? -kept : kept;
}
template <class From>
static inline auto gb_to_be_rounded(From v) {
  if constexpr (std::is_floating_point<From>::value) return v;
  else return gb_integer_to_be_rounded(v);
}

/* The next number in a direction. */
template <class T, class Raw>
static inline T gb_next(T v, bool upwards) {
  if ((v.__x & 0x7fffu) == 0) return Raw{(unsigned short)(upwards ? 0x0001u : 0x8001u)};
  const bool is_negative = v.__x >> 15;
  return Raw{(unsigned short)(is_negative == upwards ? v.__x - 1u : v.__x + 1u)};
}

enum gb_direction { GB_TO_ZERO, GB_UPWARDS, GB_DOWNWARDS };

/* Rounds to nearest, and goes back if that was the wrong way. */
template <class T, class Raw>
static inline T gb_rounded_towards(gb_direction direction, double v) {
  const T nearest(v);
  const double got = double(float(nearest));
  const bool upwards = direction == GB_UPWARDS || (direction == GB_TO_ZERO && v < 0.0);
  if (upwards ? got < v : got > v) return gb_next<T, Raw>(nearest, upwards);
  return nearest;
}

#define GB_TO_SHORT(T, name, From)                                                                                      \
  static inline T name##_rn(From v) { return T(gb_to_be_rounded(v)); }                                                  \
  static inline T name##_rz(From v) { return gb_rounded_towards<T, T##_raw>(GB_TO_ZERO, gb_to_be_rounded(v)); }         \
  static inline T name##_ru(From v) { return gb_rounded_towards<T, T##_raw>(GB_UPWARDS, gb_to_be_rounded(v)); }         \
  static inline T name##_rd(From v) { return gb_rounded_towards<T, T##_raw>(GB_DOWNWARDS, gb_to_be_rounded(v)); }
#define GB_FROM_SHORT(T, name, To)                                                       \
  static inline To name##_rn(T v) { return gb_saturate<To>(std::nearbyint(float(v))); }  \
  static inline To name##_rz(T v) { return gb_saturate<To>(std::trunc(float(v))); }      \
  static inline To name##_ru(T v) { return gb_saturate<To>(std::ceil(float(v))); }       \
  static inline To name##_rd(T v) { return gb_saturate<To>(std::floor(float(v))); }

/* `name` is `half` or `bfloat16`, as in the names of the functions. */
#define GB_SHORT_CONVERSIONS(Pair, T, Raw, name)                                                                        \
  GB_TO_SHORT(T, __float2##name, float)                                                                                 \
  GB_TO_SHORT(T, __short2##name, short)                                                                                 \
  GB_TO_SHORT(T, __ushort2##name, unsigned short)                                                                       \
  GB_TO_SHORT(T, __int2##name, int)                                                                                     \
  GB_TO_SHORT(T, __uint2##name, unsigned int)                                                                           \
  GB_TO_SHORT(T, __ll2##name, long long)                                                                                \
  GB_TO_SHORT(T, __ull2##name, unsigned long long)                                                                      \
  GB_FROM_SHORT(T, __##name##2short, short)                                                                             \
  GB_FROM_SHORT(T, __##name##2ushort, unsigned short)                                                                   \
  GB_FROM_SHORT(T, __##name##2int, int)                                                                                 \
  GB_FROM_SHORT(T, __##name##2uint, unsigned int)                                                                       \
  GB_FROM_SHORT(T, __##name##2ll, long long)                                                                            \
  GB_FROM_SHORT(T, __##name##2ull, unsigned long long)                                                                  \
  static inline signed char __##name##2char_rz(T v) { return gb_saturate<signed char>(std::trunc(float(v))); }          \
  static inline unsigned char __##name##2uchar_rz(T v) { return gb_saturate<unsigned char>(std::trunc(float(v))); }     \
  static inline T __float2##name(float v) { return T(v); }                                                              \
  static inline T __double2##name(double v) { return T(v); }                                                            \
  static inline float __##name##2float(T v) { return float(v); }                                                        \
  static inline Pair __float2##name##2_rn(float v) { return {T(v), T(v)}; }                                             \
  static inline Pair __floats2##name##2_rn(float x, float y) { return {T(x), T(y)}; }                                   \
  static inline Pair __float22##name##2_rn(float2 v) { return {T(v.x), T(v.y)}; }                                       \
  static inline float2 __##name##22float2(Pair v) { return {float(v.x), float(v.y)}; }                                  \
  static inline T __low2##name(Pair v) { return v.x; }                                                                  \
  static inline T __high2##name(Pair v) { return v.y; }                                                                 \
  static inline Pair __low2##name##2(Pair v) { return {v.x, v.x}; }                                                     \
  static inline Pair __high2##name##2(Pair v) { return {v.y, v.y}; }                                                    \
  static inline Pair __lows2##name##2(Pair a, Pair b) { return {a.x, b.x}; }                                            \
  static inline Pair __highs2##name##2(Pair a, Pair b) { return {a.y, b.y}; }                                           \
  static inline Pair __halves2##name##2(T x, T y) { return {x, y}; }                                                    \
  static inline Pair __##name##2##name##2(T v) { return {v, v}; }                                                       \
  static inline Pair make_##name##2(T x, T y) { return {x, y}; }                                                        \
  static inline unsigned short __##name##_as_ushort(T v) { return v.__x; }                                              \
  static inline short __##name##_as_short(T v) { return short(v.__x); }                                                 \
  static inline T __ushort_as_##name(unsigned short v) { return Raw{v}; }                                               \
  static inline T __short_as_##name(short v) { return Raw{(unsigned short)v}; }
