/* `__nv_fp8_e4m3` and `__nv_fp8_e5m2`, their pairs and their fours. */
#pragma once
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "gpubench/fp8.h"

using __nv_fp8_storage_t = unsigned char;
using __nv_fp8x2_storage_t = unsigned short;
using __nv_fp8x4_storage_t = unsigned int;
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };

static inline __nv_fp8_storage_t __nv_cvt_double_to_fp8(double v, __nv_saturation_t s, __nv_fp8_interpretation_t kind) {
  return kind == __NV_E4M3 ? gb_fp8<3>::from_double(v, s == __NV_SATFINITE) : gb_fp8<2>::from_double(v, s == __NV_SATFINITE);
}
static inline __nv_fp8_storage_t __nv_cvt_float_to_fp8(float v, __nv_saturation_t s, __nv_fp8_interpretation_t kind) {
  return __nv_cvt_double_to_fp8(v, s, kind);
}
static inline __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw v, __nv_saturation_t s, __nv_fp8_interpretation_t kind) {
  return __nv_cvt_double_to_fp8(float(__half(v)), s, kind);
}
static inline __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw v, __nv_saturation_t s, __nv_fp8_interpretation_t kind) {
  return __nv_cvt_double_to_fp8(float(__nv_bfloat16(v)), s, kind);
}
static inline __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t v, __nv_fp8_interpretation_t kind) {
  return __half(kind == __NV_E4M3 ? gb_fp8<3>::to_float(v) : gb_fp8<2>::to_float(v));
}
static inline __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 v, __nv_saturation_t s, __nv_fp8_interpretation_t kind) {
  return (__nv_fp8x2_storage_t)(__nv_cvt_float_to_fp8(v.x, s, kind) | __nv_cvt_float_to_fp8(v.y, s, kind) << 8);
}
static inline __nv_fp8x2_storage_t __nv_cvt_double2_to_fp8x2(double2 v, __nv_saturation_t s, __nv_fp8_interpretation_t kind) {
  return (__nv_fp8x2_storage_t)(__nv_cvt_double_to_fp8(v.x, s, kind) | __nv_cvt_double_to_fp8(v.y, s, kind) << 8);
}
static inline __nv_fp8x2_storage_t __nv_cvt_halfraw2_to_fp8x2(__half2_raw v, __nv_saturation_t s, __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float2_to_fp8x2(__half22float2(v), s, kind);
}
static inline __nv_fp8x2_storage_t __nv_cvt_bfloat16raw2_to_fp8x2(__nv_bfloat162_raw v, __nv_saturation_t s,
                                                                  __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float2_to_fp8x2(__bfloat1622float2(v), s, kind);
}
static inline __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t v, __nv_fp8_interpretation_t kind) {
  return {__nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)v, kind).x, __nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)(v >> 8), kind).x};
}

#define GB_FP8(T, fraction, kind)                                                                                       \
  struct T {                                                                                                            \
    __nv_fp8_storage_t __x;                                                                                             \
    T() = default;                                                                                                      \
    explicit T(float v) : T(double(v)) {}                                                                               \
    explicit T(double v) : __x(__nv_cvt_double_to_fp8(v, __NV_SATFINITE, kind)) {}                                      \
    explicit T(__half v) : T(float(v)) {}                                                                               \
    explicit T(__nv_bfloat16 v) : T(float(v)) {}                                                                        \
    template <class I, class = std::enable_if_t<std::is_integral<I>::value>>                                            \
    explicit T(I v) : T(double(v)) {}                                                                                   \
    explicit operator float() const { return gb_fp8<fraction>::to_float(__x); }                                         \
    explicit operator double() const { return double(float(*this)); }                                                   \
    explicit operator __half() const { return __half(float(*this)); }                                                   \
    explicit operator __nv_bfloat16() const { return __nv_bfloat16(float(*this)); }                                     \
    explicit operator bool() const { return (__x & 0x7f) != 0; }                                                        \
    template <class I, class = std::enable_if_t<std::is_integral<I>::value && !std::is_same<I, bool>::value>>           \
    explicit operator I() const { return gb_saturate<I>(std::trunc(float(*this))); }                                    \
  };
GB_FP8(__nv_fp8_e4m3, 3, __NV_E4M3)
GB_FP8(__nv_fp8_e5m2, 2, __NV_E5M2)
#undef GB_FP8

/* The first element in the lowest bits. */
#define GB_FP8_BITS(T)                                                                                               \
  struct T##_bits {                                                                                             \
    static inline __nv_fp8x2_storage_t join(T x, T y) { return (__nv_fp8x2_storage_t)(x.__x | y.__x << 8); }            \
    static inline float part(unsigned int bits, int number) {                                                           \
      T element;                                                                                                        \
      element.__x = (__nv_fp8_storage_t)(bits >> 8 * number);                                                           \
      return float(element);                                                                                            \
    }                                                                                                                   \
  };
GB_FP8_BITS(__nv_fp8_e4m3)
GB_FP8_BITS(__nv_fp8_e5m2)
#undef GB_FP8_BITS

#define GB_FP8_PAIR(Pair, Four, T)                                                                                      \
  struct Pair {                                                                                                         \
    __nv_fp8x2_storage_t __x;                                                                                           \
    Pair() = default;                                                                                                   \
    explicit Pair(float2 v) : __x(T##_bits::join(T(v.x), T(v.y))) {}                                            \
    explicit Pair(__half2 v) : __x(T##_bits::join(T(v.x), T(v.y))) {}                                           \
    explicit Pair(__nv_bfloat162 v) : __x(T##_bits::join(T(v.x), T(v.y))) {}                                    \
    explicit operator float2() const { return {T##_bits::part(__x, 0), T##_bits::part(__x, 1)}; }       \
    explicit operator __half2() const { return __float22half2_rn(float2(*this)); }                                      \
  };                                                                                                                    \
  struct Four {                                                                                                         \
    __nv_fp8x4_storage_t __x;                                                                                           \
    Four() = default;                                                                                                   \
    explicit Four(float4 v)                                                                                             \
        : __x(T##_bits::join(T(v.x), T(v.y)) | (unsigned int)T##_bits::join(T(v.z), T(v.w)) << 16) {}   \
    explicit operator float4() const {                                                                                  \
      using part_of = T##_bits;                                                                                 \
      return {part_of::part(__x, 0), part_of::part(__x, 1), part_of::part(__x, 2), part_of::part(__x, 3)};              \
    }                                                                                                                   \
  };
GB_FP8_PAIR(__nv_fp8x2_e4m3, __nv_fp8x4_e4m3, __nv_fp8_e4m3)
GB_FP8_PAIR(__nv_fp8x2_e5m2, __nv_fp8x4_e5m2, __nv_fp8_e5m2)
#undef GB_FP8_PAIR
