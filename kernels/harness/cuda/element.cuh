// Element types: their representation in memory, and the real or integer values that it encodes.
//
// A type `E` below has `Bits` (an element in memory), `Raw` (the same as an integer), `Real` (the
// type its values are computed in, wide enough for all but the low bits of 64-bit integers),
// `real(bits)`, and `nearest(Real)`, which rounds to nearest even. For integers, the argument of
// `nearest` is already rounded and in range.
#pragma once

#include "work.cuh"

namespace gb {

GB_INLINE uint32_t bits_of(float x) {
#if !defined(__GPUBENCH_CPU__)
  return __float_as_uint(x);
#else
  uint32_t bits;
  __builtin_memcpy(&bits, &x, 4);
  return bits;
#endif
}

GB_INLINE uint64_t bits_of(double x) {
#if !defined(__GPUBENCH_CPU__)
  return (uint64_t)__double_as_longlong(x);
#else
  uint64_t bits;
  __builtin_memcpy(&bits, &x, 8);
  return bits;
#endif
}

GB_INLINE float float_of(uint32_t bits) {
#if !defined(__GPUBENCH_CPU__)
  return __uint_as_float(bits);
#else
  float x;
  __builtin_memcpy(&x, &bits, 4);
  return x;
#endif
}

GB_INLINE double double_of(uint64_t bits) {
#if !defined(__GPUBENCH_CPU__)
  return __longlong_as_double((long long)bits);
#else
  double x;
  __builtin_memcpy(&x, &bits, 8);
  return x;
#endif
}

// a * b + c, rounded once.
GB_INLINE float fused(float a, float b, float c) {
#if !defined(__GPUBENCH_CPU__)
  return __fmaf_rn(a, b, c);
#else
  return __builtin_fmaf(a, b, c);
#endif
}

GB_INLINE double fused(double a, double b, double c) {
#if !defined(__GPUBENCH_CPU__)
  return __fma_rn(a, b, c);
#else
  return __builtin_fma(a, b, c);
#endif
}

constexpr float FLOAT_MAX = 3.40282346638528859811704183484516925e38f;
constexpr double DOUBLE_MAX = 1.79769313486231570814527423731704357e308;

// Integers. `LOW` and `HIGH` are the outermost values that both the type and its `Real` can
// represent.
template <class T, class R, bool SIGNED>
struct Integer {
  typedef T Bits;
  typedef T Raw;
  typedef R Real;
  static constexpr bool FLOATING = false;
  static constexpr uint32_t VALUE_BITS = 8 * sizeof(T) - SIGNED;
  static GB_INLINE R low() { return SIGNED ? -(R)(1ull << (VALUE_BITS & 63)) : (R)0; }
  static GB_INLINE R high() {
    // 2^63 - 2^10 and 2^64 - 2^11 are the largest doubles below the bounds of the 64-bit types.
    return VALUE_BITS == 64 ? (R)18446744073709549568.0
                            : VALUE_BITS == 63 ? (R)9223372036854774784.0 : (R)((1ull << (VALUE_BITS & 63)) - 1);
  }
  static GB_INLINE R real(T bits) { return (R)bits; }
  static GB_INLINE T nearest(R x) { return (T)x; }
  static GB_INLINE T raw(T bits) { return bits; }
  static GB_INLINE double distance(T a, T b) {
    if (sizeof(T) < 8) return fabs((double)a - (double)b);
    // Exact before it is rounded once. It need not fit the type itself.
    return (double)(a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a);
  }
};

typedef Integer<uint8_t, float, false> U8;
typedef Integer<int8_t, float, true> I8;
typedef Integer<uint16_t, float, false> U16;
typedef Integer<int16_t, float, true> I16;
typedef Integer<uint32_t, double, false> U32;
typedef Integer<int32_t, double, true> I32;
typedef Integer<uint64_t, double, false> U64;
typedef Integer<int64_t, double, true> I64;

// Floating-point types of 16 bits: `EXPONENT` bits of exponent and `MANTISSA` stored bits of
// mantissa.
template <uint32_t EXPONENT, uint32_t MANTISSA>
struct Short {
  typedef uint16_t Bits;
  typedef uint16_t Raw;
  typedef float Real;
  static constexpr bool FLOATING = true;
  // The largest integer up to which the type has all integers.
  static constexpr int64_t EXACT = 1ll << (MANTISSA + 1);
  static constexpr uint32_t SHIFT = 23 - MANTISSA;
  static constexpr uint32_t BIAS = (1u << (EXPONENT - 1)) - 1;
  static constexpr uint32_t INFINITE = ((1u << EXPONENT) - 1) << MANTISSA;
  // Multiplying by this moves an exponent of this type, read as that of a float, to its place. It
  // is correct for denormals too.
  static GB_INLINE float real(uint16_t bits) {
    if (EXPONENT == 8) return float_of((uint32_t)bits << 16);
#if !defined(__GPUBENCH_CPU__)
    float widened;
    asm("cvt.f32.f16 %0, %1;" : "=f"(widened) : "h"(bits));
    return widened;
#endif
    const uint32_t magnitude = bits & 0x7fffu;
    const float scale = float_of((127u + 127u - BIAS) << 23);
    const float scaled = float_of(magnitude << SHIFT) * scale;
    const uint32_t special = magnitude >= INFINITE ? 0x7f800000u : 0u;
    return float_of(bits_of(scaled) | special | (uint32_t)(bits & 0x8000u) << 16);
  }
  static GB_INLINE uint16_t nearest(float x) {
    const uint32_t sign = (bits_of(x) >> 16) & 0x8000u;
    const uint32_t magnitude = bits_of(x) & 0x7fffffffu;
    const uint32_t even = (magnitude >> SHIFT) & 1;
    const uint32_t normal = (magnitude - ((127u - BIAS) << 23) + ((1u << (SHIFT - 1)) - 1) + even) >> SHIFT;
    // The last place of this power of two is the smallest denormal of this type, so the addition
    // rounds to it.
    const uint32_t magic = (127u - BIAS + 1 + SHIFT) << 23;
    const uint32_t denormal = bits_of(float_of(magnitude) + float_of(magic)) - magic;
    uint32_t bits = EXPONENT != 8 && magnitude < ((128u - BIAS) << 23) ? denormal : normal;
    bits = bits > INFINITE ? INFINITE : bits;
    bits = magnitude > 0x7f800000u ? INFINITE | 1u << (MANTISSA - 1) : bits;
    return (uint16_t)(sign | bits);
  }
#if !defined(__GPUBENCH_CPU__)
  // `nearest` of two finite numbers, the first in the low half.
  static GB_INLINE uint32_t nearest_pair(float first, float second) {
#if __CUDA_ARCH__ >= 800
    uint32_t pair;
    if (EXPONENT == 5) asm("cvt.rn.f16x2.f32 %0, %2, %1;" : "=r"(pair) : "f"(first), "f"(second));
    else asm("cvt.rn.bf16x2.f32 %0, %2, %1;" : "=r"(pair) : "f"(first), "f"(second));
    return pair;
#else
    return nearest(first) | (uint32_t)nearest(second) << 16;
#endif
  }
#endif
  static GB_INLINE uint16_t raw(uint16_t bits) { return bits; }
  static GB_INLINE uint16_t of_raw(uint16_t raw) { return raw; }
};

typedef Short<5, 10> F16;
typedef Short<8, 7> BF16;

// Floating-point types of 8 bits, as OCP defines them: `MANTISSA` stored bits of mantissa, and the
// rest of exponent. With 3 there are no infinities, and one NaN of each sign.
template <uint32_t MANTISSA>
struct Byte {
  typedef uint8_t Bits;
  typedef uint8_t Raw;
  typedef float Real;
  static constexpr bool FLOATING = true;
  static constexpr int64_t EXACT = 1ll << (MANTISSA + 1);
  static constexpr uint32_t SHIFT = 23 - MANTISSA;
  static constexpr uint32_t BIAS = (1u << (6 - MANTISSA)) - 1;
  static constexpr uint32_t LARGEST = MANTISSA == 3 ? 0x7e : 0x7b;
  static GB_INLINE float real(uint8_t bits) {
    const uint32_t magnitude = bits & 0x7fu;
    const float scaled = float_of(magnitude << SHIFT) * float_of((127u + 127u - BIAS) << 23);
    const uint32_t special = magnitude > LARGEST ? 0x7f800000u : 0u;
    return float_of(bits_of(scaled) | special | (uint32_t)(bits & 0x80u) << 24);
  }
  // Of the numbers that are finite, as conversions in CUDA C++ do it.
  static GB_INLINE uint8_t nearest(float x) {
    const uint32_t sign = (bits_of(x) >> 24) & 0x80u;
    const uint32_t magnitude = bits_of(x) & 0x7fffffffu;
    const uint32_t even = (magnitude >> SHIFT) & 1;
    const uint32_t normal = (magnitude - ((127u - BIAS) << 23) + ((1u << (SHIFT - 1)) - 1) + even) >> SHIFT;
    const uint32_t magic = (127u - BIAS + 1 + SHIFT) << 23;
    const uint32_t denormal = bits_of(float_of(magnitude) + float_of(magic)) - magic;
    uint32_t bits = magnitude < ((128u - BIAS) << 23) ? denormal : normal;
    bits = bits > LARGEST ? LARGEST : bits;
    return (uint8_t)(sign | (magnitude > 0x7f800000u ? 0x7fu : bits));
  }
  static GB_INLINE uint8_t raw(uint8_t bits) { return bits; }
  static GB_INLINE uint8_t of_raw(uint8_t raw) { return raw; }
};

typedef Byte<3> F8E4M3;
typedef Byte<2> F8E5M2;

// A complex number: the real part in the low word. There is no single `Real` for it.
struct Complex32 {
  typedef uint64_t Bits;
  typedef uint64_t Raw;
  static constexpr bool FLOATING = true;
  static GB_INLINE double re(uint64_t bits) { return (double)float_of((uint32_t)bits); }
  static GB_INLINE double im(uint64_t bits) { return (double)float_of((uint32_t)(bits >> 32)); }
  static GB_INLINE uint64_t raw(uint64_t bits) { return bits; }
  static GB_INLINE uint64_t of_raw(uint64_t raw) { return raw; }
};

struct F32 {
  typedef float Bits;
  typedef uint32_t Raw;
  typedef float Real;
  static constexpr bool FLOATING = true;
  static constexpr int64_t EXACT = 1ll << 24;
  static GB_INLINE float real(float x) { return x; }
  static GB_INLINE float nearest(float x) { return x; }
  static GB_INLINE uint32_t raw(float x) { return bits_of(x); }
  static GB_INLINE float of_raw(uint32_t raw) { return float_of(raw); }
};

struct F64 {
  typedef double Bits;
  typedef uint64_t Raw;
  typedef double Real;
  static constexpr bool FLOATING = true;
  static constexpr int64_t EXACT = 1ll << 53;
  static GB_INLINE double real(double x) { return x; }
  static GB_INLINE double nearest(double x) { return x; }
  static GB_INLINE uint64_t raw(double x) { return bits_of(x); }
  static GB_INLINE double of_raw(uint64_t raw) { return double_of(raw); }
};

// Calls `RUN(E)` with the element type of a `gb_dtype`. For an unknown one it does nothing, and the
// elements stay uncounted. Further cases may follow the type.
#define GB_FOR_DTYPE(dtype, RUN, ...) \
  switch (dtype) {               \
    case GB_U8: RUN(gb::U8); break;     \
    case GB_I8: RUN(gb::I8); break;     \
    case GB_U16: RUN(gb::U16); break;   \
    case GB_I16: RUN(gb::I16); break;   \
    case GB_U32: RUN(gb::U32); break;   \
    case GB_I32: RUN(gb::I32); break;   \
    case GB_U64: RUN(gb::U64); break;   \
    case GB_I64: RUN(gb::I64); break;   \
    case GB_F16: RUN(gb::F16); break;   \
    case GB_BF16: RUN(gb::BF16); break; \
    case GB_F32: RUN(gb::F32); break;   \
    case GB_F64: RUN(gb::F64); break;   \
    case GB_F8E4M3: RUN(gb::F8E4M3); break; \
    case GB_F8E5M2: RUN(gb::F8E5M2); break; \
    __VA_ARGS__                  \
    default: break;              \
  }

// With complex numbers, which have no `Real`.
#define GB_FOR_COMPARED_DTYPE(dtype, RUN) GB_FOR_DTYPE(dtype, RUN, case GB_COMPLEX32: RUN(gb::Complex32); break;)

// Bytes of an element, or 0 if the type is unknown.
GB_INLINE uint32_t element_bytes(uint32_t dtype) {
#define GB_SIZE(E) return sizeof(typename E::Bits)
  GB_FOR_COMPARED_DTYPE(dtype, GB_SIZE)
#undef GB_SIZE
  return 0;
}

}  // namespace gb
