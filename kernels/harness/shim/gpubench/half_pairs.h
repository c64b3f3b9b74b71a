/* Pairs of 16-bit floating-point numbers: element by element. */
#pragma once
#include "half_functions.h"

#define GB_PAIR_1(Pair, name, of_one) \
  static inline Pair name(Pair a) { return {of_one(a.x), of_one(a.y)}; }
#define GB_PAIR_2(Pair, name, of_one) \
  static inline Pair name(Pair a, Pair b) { return {of_one(a.x, b.x), of_one(a.y, b.y)}; }
#define GB_PAIR_3(Pair, name, of_one) \
  static inline Pair name(Pair a, Pair b, Pair c) { return {of_one(a.x, b.x, c.x), of_one(a.y, b.y, c.y)}; }
/* As numbers 1 and 0, as masks, and for both at once. */
#define GB_PAIR_COMPARISON(Pair, T, name, masks, both, of_one)                                                          \
  static inline Pair name(Pair a, Pair b) {                                                                             \
    return {T(of_one(a.x, b.x) ? 1.0f : 0.0f), T(of_one(a.y, b.y) ? 1.0f : 0.0f)};                                      \
  }                                                                                                                     \
  static inline unsigned int masks(Pair a, Pair b) {                                                                    \
    return (of_one(a.x, b.x) ? 0xffffu : 0u) | (of_one(a.y, b.y) ? 0xffff0000u : 0u);                                   \
  }                                                                                                                     \
  static inline bool both(Pair a, Pair b) { return of_one(a.x, b.x) && of_one(a.y, b.y); }

#define GB_SHORT_PAIR(Pair, T)                                                                                          \
  struct __attribute__((aligned(4))) Pair##_raw {                                                                       \
    unsigned short x, y;                                                                                                \
  };                                                                                                                    \
  struct __attribute__((aligned(4))) Pair {                                                                             \
    T x, y;                                                                                                             \
    Pair() = default;                                                                                                   \
    Pair(T x, T y) : x(x), y(y) {}                                                                                      \
    Pair(Pair##_raw raw) : x(T##_raw{raw.x}), y(T##_raw{raw.y}) {}                                                      \
    operator Pair##_raw() const { return {x.__x, y.__x}; }                                                              \
    Pair &operator+=(Pair o) { return x += o.x, y += o.y, *this; }                                                      \
    Pair &operator-=(Pair o) { return x -= o.x, y -= o.y, *this; }                                                      \
    Pair &operator*=(Pair o) { return x *= o.x, y *= o.y, *this; }                                                      \
    Pair &operator/=(Pair o) { return x /= o.x, y /= o.y, *this; }                                                      \
    Pair &operator++() { return ++x, ++y, *this; }                                                                      \
    Pair &operator--() { return --x, --y, *this; }                                                                      \
  };                                                                                                                    \
  static inline Pair operator+(Pair a, Pair b) { return {a.x + b.x, a.y + b.y}; }                                       \
  static inline Pair operator-(Pair a, Pair b) { return {a.x - b.x, a.y - b.y}; }                                       \
  static inline Pair operator*(Pair a, Pair b) { return {a.x * b.x, a.y * b.y}; }                                       \
  static inline Pair operator/(Pair a, Pair b) { return {a.x / b.x, a.y / b.y}; }                                       \
  static inline Pair operator-(Pair a) { return {-a.x, -a.y}; }                                                         \
  static inline Pair operator+(Pair a) { return a; }                                                                    \
  GB_PAIR_COMPARISON(Pair, T, __heq2, __heq2_mask, __hbeq2, __heq)                                                      \
  GB_PAIR_COMPARISON(Pair, T, __hequ2, __hequ2_mask, __hbequ2, __hequ)                                                  \
  static inline bool operator==(Pair a, Pair b) { return a.x == b.x && a.y == b.y; }                                    \
  GB_PAIR_COMPARISON(Pair, T, __hne2, __hne2_mask, __hbne2, __hne)                                                      \
  GB_PAIR_COMPARISON(Pair, T, __hneu2, __hneu2_mask, __hbneu2, __hneu)                                                  \
  static inline bool operator!=(Pair a, Pair b) { return a.x != b.x && a.y != b.y; }                                    \
  GB_PAIR_COMPARISON(Pair, T, __hlt2, __hlt2_mask, __hblt2, __hlt)                                                      \
  GB_PAIR_COMPARISON(Pair, T, __hltu2, __hltu2_mask, __hbltu2, __hltu)                                                  \
  static inline bool operator<(Pair a, Pair b) { return a.x < b.x && a.y < b.y; }                                       \
  GB_PAIR_COMPARISON(Pair, T, __hle2, __hle2_mask, __hble2, __hle)                                                      \
  GB_PAIR_COMPARISON(Pair, T, __hleu2, __hleu2_mask, __hbleu2, __hleu)                                                  \
  static inline bool operator<=(Pair a, Pair b) { return a.x <= b.x && a.y <= b.y; }                                    \
  GB_PAIR_COMPARISON(Pair, T, __hgt2, __hgt2_mask, __hbgt2, __hgt)                                                      \
  GB_PAIR_COMPARISON(Pair, T, __hgtu2, __hgtu2_mask, __hbgtu2, __hgtu)                                                  \
  static inline bool operator>(Pair a, Pair b) { return a.x > b.x && a.y > b.y; }                                       \
  GB_PAIR_COMPARISON(Pair, T, __hge2, __hge2_mask, __hbge2, __hge)                                                      \
  GB_PAIR_COMPARISON(Pair, T, __hgeu2, __hgeu2_mask, __hbgeu2, __hgeu)                                                  \
  static inline bool operator>=(Pair a, Pair b) { return a.x >= b.x && a.y >= b.y; }                                    \
  GB_PAIR_2(Pair, __hadd2, __hadd)                                                                                      \
  GB_PAIR_2(Pair, __hadd2_rn, __hadd_rn)                                                                                \
  GB_PAIR_2(Pair, __hadd2_sat, __hadd_sat)                                                                              \
  GB_PAIR_2(Pair, __hsub2, __hsub)                                                                                      \
  GB_PAIR_2(Pair, __hsub2_rn, __hsub_rn)                                                                                \
  GB_PAIR_2(Pair, __hsub2_sat, __hsub_sat)                                                                              \
  GB_PAIR_2(Pair, __hmul2, __hmul)                                                                                      \
  GB_PAIR_2(Pair, __hmul2_rn, __hmul_rn)                                                                                \
  GB_PAIR_2(Pair, __hmul2_sat, __hmul_sat)                                                                              \
  GB_PAIR_2(Pair, __h2div, __hdiv)                                                                                      \
  GB_PAIR_2(Pair, __hmax2, __hmax)                                                                                      \
  GB_PAIR_2(Pair, __hmax2_nan, __hmax_nan)                                                                              \
  GB_PAIR_2(Pair, __hmin2, __hmin)                                                                                      \
  GB_PAIR_2(Pair, __hmin2_nan, __hmin_nan)                                                                              \
  GB_PAIR_1(Pair, __hneg2, __hneg)                                                                                      \
  GB_PAIR_1(Pair, __habs2, __habs)                                                                                      \
  GB_PAIR_1(Pair, h2sqrt, hsqrt)                                                                                        \
  GB_PAIR_1(Pair, h2rsqrt, hrsqrt)                                                                                      \
  GB_PAIR_1(Pair, h2rcp, hrcp)                                                                                          \
  GB_PAIR_1(Pair, h2exp, hexp)                                                                                          \
  GB_PAIR_1(Pair, h2exp2, hexp2)                                                                                        \
  GB_PAIR_1(Pair, h2exp10, hexp10)                                                                                      \
  GB_PAIR_1(Pair, h2log, hlog)                                                                                          \
  GB_PAIR_1(Pair, h2log2, hlog2)                                                                                        \
  GB_PAIR_1(Pair, h2log10, hlog10)                                                                                      \
  GB_PAIR_1(Pair, h2sin, hsin)                                                                                          \
  GB_PAIR_1(Pair, h2cos, hcos)                                                                                          \
  GB_PAIR_1(Pair, h2tanh, htanh)                                                                                        \
  GB_PAIR_1(Pair, h2tanh_approx, htanh_approx)                                                                          \
  GB_PAIR_1(Pair, h2floor, hfloor)                                                                                      \
  GB_PAIR_1(Pair, h2ceil, hceil)                                                                                        \
  GB_PAIR_1(Pair, h2trunc, htrunc)                                                                                      \
  GB_PAIR_1(Pair, h2rint, hrint)                                                                                        \
  GB_PAIR_3(Pair, __hfma2, __hfma)                                                                                      \
  GB_PAIR_3(Pair, __hfma2_sat, __hfma_sat)                                                                              \
  GB_PAIR_3(Pair, __hfma2_relu, __hfma_relu)                                                                            \
  static inline Pair __hisnan2(Pair a) { return {T(__hisnan(a.x) ? 1.0f : 0.0f), T(__hisnan(a.y) ? 1.0f : 0.0f)}; }     \
  static inline Pair __hcmadd(Pair a, Pair b, Pair c) {                                                                 \
    return {__hfma(-a.y, b.y, __hfma(a.x, b.x, c.x)), __hfma(a.y, b.x, __hfma(a.x, b.y, c.y))};                         \
  }                                                                                                                     \
  static inline Pair __lowhigh2highlow(Pair a) { return {a.y, a.x}; }                                                   \
  static inline float __low2float(Pair a) { return float(a.x); }                                                        \
  static inline float __high2float(Pair a) { return float(a.y); }                                                       \
  static inline Pair atomicAdd(Pair *p, Pair v) {                                                                       \
    const T x = atomicAdd(&p->x, v.x), y = atomicAdd(&p->y, v.y);                                                       \
    return {x, y};                                                                                                      \
  }
