/* Functions on 16-bit floating-point numbers. */
#pragma once
#include "half.h"

#define GB_SHORT_MATH(name, T, ...)       \
  static inline T name(T a) {             \
    const float x = float(a);             \
    return T(__VA_ARGS__);                \
  }
/* Without an ending, false for NaN; with `u`, true. */
#define GB_SHORT_COMPARISON(name, T, op)                                                                        \
  static inline bool name(T a, T b) { return !__hisnan(a) && !__hisnan(b) && float(a) op float(b); }            \
  static inline bool name##u(T a, T b) { return __hisnan(a) || __hisnan(b) || float(a) op float(b); }

#define GB_SHORT_FUNCTIONS(T, Raw)                                                                                      \
  static inline T __hadd(T a, T b) { return a + b; }                                                                    \
  static inline T __hadd_rn(T a, T b) { return a + b; }                                                                 \
  static inline T __hadd_sat(T a, T b) { return T(saturatef(float(a) + float(b))); }                                    \
  static inline T __hsub(T a, T b) { return a - b; }                                                                    \
  static inline T __hsub_rn(T a, T b) { return a - b; }                                                                 \
  static inline T __hsub_sat(T a, T b) { return T(saturatef(float(a) - float(b))); }                                    \
  static inline T __hmul(T a, T b) { return a * b; }                                                                    \
  static inline T __hmul_rn(T a, T b) { return a * b; }                                                                 \
  static inline T __hmul_sat(T a, T b) { return T(saturatef(float(a) * float(b))); }                                    \
  static inline T __hdiv(T a, T b) { return a / b; }                                                                    \
  static inline T __hneg(T a) { return -a; }                                                                            \
  static inline T __habs(T a) { return Raw{(unsigned short)(a.__x & 0x7fffu)}; }                                        \
  static inline bool __hisnan(T a) { return float(a) != float(a); }                                                     \
  static inline int __hisinf(T a) { return std::isinf(float(a)) ? (float(a) < 0 ? -1 : 1) : 0; }                        \
  static inline T __hfma(T a, T b, T c) { return T(double(float(a)) * double(float(b)) + double(float(c))); }           \
  static inline T __hfma_sat(T a, T b, T c) { return T(saturatef(float(__hfma(a, b, c)))); }                            \
  static inline T __hfma_relu(T a, T b, T c) {                                                                          \
    const T r = __hfma(a, b, c);                                                                                        \
    return float(r) < 0.0f ? T(0.0f) : r;                                                                               \
  }                                                                                                                     \
  static inline T __hmax(T a, T b) { return T(std::fmax(float(a), float(b))); }                                         \
  static inline T __hmin(T a, T b) { return T(std::fmin(float(a), float(b))); }                                         \
  static inline T max(T a, T b) { return __hmax(a, b); }                                                                \
  static inline T min(T a, T b) { return __hmin(a, b); }                                                                \
  static inline T __hmax_nan(T a, gb_yielding<T> b) {                                                                   \
    return __hisnan(a) ? a : __hisnan(b.value) ? b.value : __hmax(a, b.value);                                          \
  }                                                                                                                     \
  static inline T __hmin_nan(T a, gb_yielding<T> b) {                                                                   \
    return __hisnan(a) ? a : __hisnan(b.value) ? b.value : __hmin(a, b.value);                                          \
  }                                                                                                                     \
  static inline T atomicAdd(T *p, gb_yielding<T> v) {                                                                   \
    return gb_atomic_update(p, [v](T old) { return old + v.value; });                                                   \
  }                                                                                                                     \
  GB_SHORT_MATH(hsqrt, T, std::sqrt(x))                                                                                 \
  GB_SHORT_MATH(hrsqrt, T, 1.0f / std::sqrt(x))                                                                         \
  GB_SHORT_MATH(hrcp, T, 1.0f / x)                                                                                      \
  GB_SHORT_MATH(hexp, T, std::exp(x))                                                                                   \
  GB_SHORT_MATH(hexp2, T, std::exp2(x))                                                                                 \
  GB_SHORT_MATH(hexp10, T, exp10f(x))                                                                                   \
  GB_SHORT_MATH(hlog, T, std::log(x))                                                                                   \
  GB_SHORT_MATH(hlog2, T, std::log2(x))                                                                                 \
  GB_SHORT_MATH(hlog10, T, std::log10(x))                                                                               \
  GB_SHORT_MATH(hsin, T, std::sin(x))                                                                                   \
  GB_SHORT_MATH(hcos, T, std::cos(x))                                                                                   \
  GB_SHORT_MATH(htanh, T, std::tanh(x))                                                                                 \
  GB_SHORT_MATH(htanh_approx, T, std::tanh(x))                                                                          \
  GB_SHORT_MATH(hfloor, T, std::floor(x))                                                                               \
  GB_SHORT_MATH(hceil, T, std::ceil(x))                                                                                 \
  GB_SHORT_MATH(htrunc, T, std::trunc(x))                                                                               \
  GB_SHORT_MATH(hrint, T, std::nearbyint(x))                                                                            \
  GB_SHORT_COMPARISON(__heq, T, ==)                                                                                     \
  GB_SHORT_COMPARISON(__hne, T, !=)                                                                                     \
  GB_SHORT_COMPARISON(__hlt, T, <)                                                                                      \
  GB_SHORT_COMPARISON(__hle, T, <=)                                                                                     \
  GB_SHORT_COMPARISON(__hgt, T, >)                                                                                      \
  GB_SHORT_COMPARISON(__hge, T, >=)
