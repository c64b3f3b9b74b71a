/* Arithmetic and conversions with a rounding mode. The processor rounds to nearest; the other modes
 * are switched on for one operation. */
#pragma once
#include <cfenv>

/* Hides a value from the optimiser, so that the operation stays between the switches. */
template <class T>
static inline __attribute__((always_inline)) T gb_hidden(T v) {
  __asm__ volatile("" : "+m"(v) : : "memory");
  return v;
}

template <int Mode, class F, class... T>
static inline auto gb_rounded(F f, T... v) {
  fesetround(Mode);
  const auto result = gb_hidden(f(gb_hidden(v)...));
  fesetround(FE_TONEAREST);
  return result;
}

#define GB_DIRECTED_1(name, T, From, ...)                                                                               \
  static inline T name##_rz(From u) { return gb_rounded<FE_TOWARDZERO>([](From a) { return (T)(__VA_ARGS__); }, u); }     \
  static inline T name##_ru(From u) { return gb_rounded<FE_UPWARD>([](From a) { return (T)(__VA_ARGS__); }, u); }         \
  static inline T name##_rd(From u) { return gb_rounded<FE_DOWNWARD>([](From a) { return (T)(__VA_ARGS__); }, u); }
#define GB_DIRECTED_2(name, T, ...)                                                                                     \
  static inline T name##_rz(T u, T v) { return gb_rounded<FE_TOWARDZERO>([](T a, T b) { return __VA_ARGS__; }, u, v); } \
  static inline T name##_ru(T u, T v) { return gb_rounded<FE_UPWARD>([](T a, T b) { return __VA_ARGS__; }, u, v); }     \
  static inline T name##_rd(T u, T v) { return gb_rounded<FE_DOWNWARD>([](T a, T b) { return __VA_ARGS__; }, u, v); }
#define GB_FUSED_IN(mode, name, T, fused) \
  static inline T name(T u, T v, T w) { return gb_rounded<mode>([](T a, T b, T c) { return fused(a, b, c); }, u, v, w); }
#define GB_FUSED(name, T, fused)                                                       \
  static inline T name##_rn(T a, T b, T c) { return fused(a, b, c); }                  \
  GB_FUSED_IN(FE_TOWARDZERO, name##_rz, T, fused)                                      \
  GB_FUSED_IN(FE_UPWARD, name##_ru, T, fused)                                          \
  GB_FUSED_IN(FE_DOWNWARD, name##_rd, T, fused)
/* Never contracted into a multiply-add, as in CUDA. */
#if defined(__x86_64__)
#define GB_IN_REGISTER "+x"
#elif defined(__aarch64__)
#define GB_IN_REGISTER "+w"
#else
#define GB_IN_REGISTER "+m"
#endif
#define GB_UNFUSED(name, T, op)                                                        \
  static inline T name##_rn(T a, T b) {                                                \
    T r = a op b;                                                                      \
    __asm__("" : GB_IN_REGISTER(r));                                                   \
    return r;                                                                          \
  }                                                                                    \
  GB_DIRECTED_2(name, T, a op b)

#define GB_ARITHMETIC(T, add, sub, mul, div, rcp, root)                                \
  GB_UNFUSED(add, T, +)                                                                \
  GB_UNFUSED(sub, T, -)                                                                \
  GB_UNFUSED(mul, T, *)                                                                \
  static inline T div##_rn(T a, T b) { return a / b; }                                 \
  GB_DIRECTED_2(div, T, a / b)                                                         \
  static inline T rcp##_rn(T a) { return T(1) / a; }                                   \
  GB_DIRECTED_1(rcp, T, T, T(1) / a)                                                   \
  static inline T root##_rn(T a) { return std::sqrt(a); }                              \
  GB_DIRECTED_1(root, T, T, std::sqrt(a))
GB_ARITHMETIC(float, __fadd, __fsub, __fmul, __fdiv, __frcp, __fsqrt)
GB_ARITHMETIC(double, __dadd, __dsub, __dmul, __ddiv, __drcp, __dsqrt)
GB_FUSED(__fmaf, float, __builtin_fmaf)
GB_FUSED(__fmaf_ieee, float, __builtin_fmaf)
GB_FUSED(__fma, double, __builtin_fma)
static inline float __frsqrt_rn(float x) { return float(1.0 / std::sqrt(double(x))); }

#define GB_PAIRED(mode)                                                                                                    \
  static inline float2 __fadd2_##mode(float2 a, float2 b) { return {__fadd_##mode(a.x, b.x), __fadd_##mode(a.y, b.y)}; }   \
  static inline float2 __fmul2_##mode(float2 a, float2 b) { return {__fmul_##mode(a.x, b.x), __fmul_##mode(a.y, b.y)}; }   \
  static inline float2 __ffma2_##mode(float2 a, float2 b, float2 c) {                                                      \
    return {__fmaf_##mode(a.x, b.x, c.x), __fmaf_##mode(a.y, b.y, c.y)};                                                   \
  }
GB_PAIRED(rn)
GB_PAIRED(rz)
GB_PAIRED(ru)
GB_PAIRED(rd)
#undef GB_PAIRED

/* Conversions to integers. As on a GPU, out-of-range values saturate, and NaN becomes 0, or the
 * highest bit alone if one of the types has 64 bits. */
template <class To, class From>
static inline To gb_saturate(From v) {
  constexpr To low = std::numeric_limits<To>::min(), high = std::numeric_limits<To>::max();
  if (v != v) return sizeof(To) == 8 || sizeof(From) == 8 ? (To)(std::is_signed<To>::value ? low : high / 2 + 1) : (To)0;
  if (v <= From(low)) return low;
  if (v >= From(high)) return high;
  return To(v);
}
#define GB_TO_INTEGER(from, to, T)                                                               \
  static inline T __##from##2##to##_rn(from v) { return gb_saturate<T>(std::nearbyint(v)); }     \
  static inline T __##from##2##to##_rz(from v) { return gb_saturate<T>(std::trunc(v)); }         \
  static inline T __##from##2##to##_ru(from v) { return gb_saturate<T>(std::ceil(v)); }          \
  static inline T __##from##2##to##_rd(from v) { return gb_saturate<T>(std::floor(v)); }
#define GB_TO_INTEGERS(from)                       \
  GB_TO_INTEGER(from, int, int)                    \
  GB_TO_INTEGER(from, uint, unsigned int)          \
  GB_TO_INTEGER(from, ll, long long)               \
  GB_TO_INTEGER(from, ull, unsigned long long)
GB_TO_INTEGERS(float)
GB_TO_INTEGERS(double)
#undef GB_TO_INTEGERS
#undef GB_TO_INTEGER

#define GB_CONVERSION(name, To, From)                       \
  static inline To name##_rn(From v) { return (To)v; }       \
  GB_DIRECTED_1(name, To, From, a)
GB_CONVERSION(__double2float, float, double)
GB_CONVERSION(__int2float, float, int)
GB_CONVERSION(__uint2float, float, unsigned int)
GB_CONVERSION(__ll2float, float, long long)
GB_CONVERSION(__ull2float, float, unsigned long long)
GB_CONVERSION(__ll2double, double, long long)
GB_CONVERSION(__ull2double, double, unsigned long long)
static inline double __int2double_rn(int v) { return v; }
static inline double __uint2double_rn(unsigned int v) { return v; }

#undef GB_CONVERSION
#undef GB_ARITHMETIC
#undef GB_UNFUSED
#undef GB_IN_REGISTER
#undef GB_FUSED
#undef GB_FUSED_IN
#undef GB_DIRECTED_2
#undef GB_DIRECTED_1
