/* CUDA's complex numbers. */
#pragma once
#include "gpubench/cuda.h"

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

/* Magnitudes are computed without overflow in between. Divisions start with the larger part. */
#define GB_COMPLEX(T, R, real, imag, make, conj, add, sub, mul, div, abs, fma)                    \
  static inline R real(T z) { return z.x; }                                                             \
  static inline R imag(T z) { return z.y; }                                                             \
  static inline T make(R x, R y) { return {x, y}; }                                                     \
  static inline T conj(T z) { return {z.x, -z.y}; }                                                     \
  static inline T add(T a, T b) { return {a.x + b.x, a.y + b.y}; }                                      \
  static inline T sub(T a, T b) { return {a.x - b.x, a.y - b.y}; }                                      \
  static inline T mul(T a, T b) { return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }              \
  static inline T div(T a, T b) {                                                                       \
    const R scale = R(1) / (std::fabs(b.x) + std::fabs(b.y));                                           \
    const R ax = a.x * scale, ay = a.y * scale, bx = b.x * scale, by = b.y * scale;                     \
    const R over = R(1) / (bx * bx + by * by);                                                          \
    return {(ax * bx + ay * by) * over, (ay * bx - ax * by) * over};                                    \
  }                                                                                                     \
  static inline R abs(T z) { return std::hypot(z.x, z.y); }                                             \
  static inline T fma(T a, T b, T c) {                                                                  \
    return {a.x * b.x + c.x - a.y * b.y, a.x * b.y + c.y + a.y * b.x};                                  \
  }
GB_COMPLEX(cuFloatComplex, float, cuCrealf, cuCimagf, make_cuFloatComplex, cuConjf, cuCaddf, cuCsubf, cuCmulf, cuCdivf, cuCabsf, cuCfmaf)
GB_COMPLEX(cuDoubleComplex, double, cuCreal, cuCimag, make_cuDoubleComplex, cuConj, cuCadd, cuCsub, cuCmul, cuCdiv, cuCabs, cuCfma)
#undef GB_COMPLEX
static inline cuComplex make_cuComplex(float x, float y) { return {x, y}; }
static inline cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z) { return {z.x, z.y}; }
static inline cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z) { return {float(z.x), float(z.y)}; }
