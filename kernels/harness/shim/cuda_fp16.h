/* `__half` and `__half2`. */
#pragma once
#include "gpubench/cuda.h"
#include "gpubench/half.h"

GB_SHORT_FLOAT(__half, __half_raw, gb_half_to_float, gb_half_from_float, gb_half_from_double)
GB_SHORT_PAIR(__half2, __half)
using half = __half;
using half2 = __half2;
using nv_half = __half;
using nv_half2 = __half2;

static inline __half __float2half(float v) { return __half(v); }
static inline __half __float2half_rn(float v) { return __half(v); }
static inline __half __double2half(double v) { return __half(v); }
static inline float __half2float(__half v) { return float(v); }
static inline __half2 __float2half2_rn(float v) { return {__half(v), __half(v)}; }
static inline __half2 __floats2half2_rn(float x, float y) { return {__half(x), __half(y)}; }
static inline __half2 __float22half2_rn(float2 v) { return {__half(v.x), __half(v.y)}; }
static inline float2 __half22float2(__half2 v) { return {float(v.x), float(v.y)}; }
static inline float __low2float(__half2 v) { return float(v.x); }
static inline float __high2float(__half2 v) { return float(v.y); }
static inline __half __low2half(__half2 v) { return v.x; }
static inline __half __high2half(__half2 v) { return v.y; }
static inline __half2 __half2half2(__half v) { return {v, v}; }
static inline __half2 __halves2half2(__half x, __half y) { return {x, y}; }
static inline __half2 make_half2(__half x, __half y) { return {x, y}; }
static inline __half2 __low2half2(__half2 v) { return {v.x, v.x}; }
static inline __half2 __high2half2(__half2 v) { return {v.y, v.y}; }
static inline __half2 __lowhigh2highlow(__half2 v) { return {v.y, v.x}; }
static inline unsigned short __half_as_ushort(__half v) { return v.__x; }
static inline short __half_as_short(__half v) { return short(v.__x); }
static inline __half __ushort_as_half(unsigned short v) { return __half_raw{v}; }
static inline __half __short_as_half(short v) { return __half_raw{(unsigned short)v}; }
static inline int __half2int_rn(__half v) { return __float2int_rn(float(v)); }
static inline int __half2int_rz(__half v) { return __float2int_rz(float(v)); }
static inline unsigned int __half2uint_rn(__half v) { return __float2uint_rn(float(v)); }
static inline unsigned int __half2uint_rz(__half v) { return __float2uint_rz(float(v)); }
static inline __half __int2half_rn(int v) { return __half(v); }
static inline __half __uint2half_rn(unsigned int v) { return __half(v); }
