/* `__nv_bfloat16` and `__nv_bfloat162`. */
#pragma once
#include "gpubench/cuda.h"
#include "gpubench/half.h"

GB_SHORT_FLOAT(__nv_bfloat16, __nv_bfloat16_raw, gb_bfloat_to_float, gb_bfloat_from_float, gb_bfloat_from_double)
GB_SHORT_PAIR(__nv_bfloat162, __nv_bfloat16)
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

static inline __nv_bfloat16 __float2bfloat16(float v) { return __nv_bfloat16(v); }
static inline __nv_bfloat16 __float2bfloat16_rn(float v) { return __nv_bfloat16(v); }
static inline __nv_bfloat16 __double2bfloat16(double v) { return __nv_bfloat16(v); }
static inline float __bfloat162float(__nv_bfloat16 v) { return float(v); }
static inline __nv_bfloat162 __float2bfloat162_rn(float v) { return {__nv_bfloat16(v), __nv_bfloat16(v)}; }
static inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return {__nv_bfloat16(x), __nv_bfloat16(y)}; }
static inline __nv_bfloat162 __float22bfloat162_rn(float2 v) { return {__nv_bfloat16(v.x), __nv_bfloat16(v.y)}; }
static inline float2 __bfloat1622float2(__nv_bfloat162 v) { return {float(v.x), float(v.y)}; }
static inline float __low2float(__nv_bfloat162 v) { return float(v.x); }
static inline float __high2float(__nv_bfloat162 v) { return float(v.y); }
static inline __nv_bfloat16 __low2bfloat16(__nv_bfloat162 v) { return v.x; }
static inline __nv_bfloat16 __high2bfloat16(__nv_bfloat162 v) { return v.y; }
static inline __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 v) { return {v, v}; }
static inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
static inline __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
static inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 v) { return v.__x; }
static inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short v) { return __nv_bfloat16_raw{v}; }
static inline int __bfloat162int_rn(__nv_bfloat16 v) { return __float2int_rn(float(v)); }
static inline __nv_bfloat16 __int2bfloat16_rn(int v) { return __nv_bfloat16(v); }
