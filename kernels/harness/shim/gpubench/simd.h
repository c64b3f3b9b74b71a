/* Integer instructions on the halfwords or bytes of a word, and sums of products of such parts. */
#pragma once

/* Calls `f` with the parts of the words, and puts the low bits of its results into a word. */
template <class Part, class F, class... Words>
static inline __attribute__((always_inline)) unsigned int gb_by_part(F f, Words... words) {
  unsigned int out = 0;
  for (unsigned int shift = 0; shift < 32; shift += 8 * sizeof(Part)) {
    out |= unsigned(std::make_unsigned_t<Part>(f(int(Part(words >> shift))...))) << shift;
  }
  return out;
}

/* Adds the results. */
template <class Part, class F>
static inline __attribute__((always_inline)) unsigned int gb_sum_of_parts(F f, unsigned int a, unsigned int b) {
  unsigned int sum = 0;
  for (unsigned int shift = 0; shift < 32; shift += 8 * sizeof(Part)) {
    sum += unsigned(f(int(Part(a >> shift)), int(Part(b >> shift))));
  }
  return sum;
}

template <class Part>
static inline __attribute__((always_inline)) int gb_clamped(int v) {
  constexpr int low = std::numeric_limits<Part>::min(), high = std::numeric_limits<Part>::max();
  return v < low ? low : v > high ? high : v;
}

/* Wraps around. */
template <class T>
static inline T gb_sum(T a, T b) {
  return T(unsigned(a) + unsigned(b));
}

#define GB_PARTS_1(name, Part, ...)                                            \
  static inline unsigned int name(unsigned int u) {                            \
    using part = Part;                                                         \
    return gb_by_part<part>([](int a) { return __VA_ARGS__; }, u);             \
  }
#define GB_PARTS_2(name, Part, ...)                                            \
  static inline unsigned int name(unsigned int u, unsigned int v) {            \
    using part = Part;                                                         \
    return gb_by_part<part>([](int a, int b) { return __VA_ARGS__; }, u, v);   \
  }
#define GB_SIGNED_1(name, ...) GB_PARTS_1(name##2, int16_t, __VA_ARGS__) GB_PARTS_1(name##4, int8_t, __VA_ARGS__)
#define GB_SIGNED_2(name, ...) GB_PARTS_2(name##2, int16_t, __VA_ARGS__) GB_PARTS_2(name##4, int8_t, __VA_ARGS__)
#define GB_UNSIGNED_2(name, ...) GB_PARTS_2(name##2, uint16_t, __VA_ARGS__) GB_PARTS_2(name##4, uint8_t, __VA_ARGS__)

GB_SIGNED_1(__vabs, a < 0 ? -a : a)
GB_SIGNED_1(__vabsss, gb_clamped<part>(a < 0 ? -a : a))
GB_SIGNED_1(__vneg, -a)
GB_SIGNED_1(__vnegss, gb_clamped<part>(-a))
GB_SIGNED_2(__vadd, a + b)
GB_SIGNED_2(__vaddss, gb_clamped<part>(a + b))
GB_UNSIGNED_2(__vaddus, gb_clamped<part>(a + b))
GB_SIGNED_2(__vsub, a - b)
GB_SIGNED_2(__vsubss, gb_clamped<part>(a - b))
GB_UNSIGNED_2(__vsubus, gb_clamped<part>(a - b))
GB_SIGNED_2(__vabsdiffs, a < b ? b - a : a - b)
GB_UNSIGNED_2(__vabsdiffu, a < b ? b - a : a - b)
/* Halves are rounded away from zero. */
GB_SIGNED_2(__vavgs, a + b < 0 ? (a + b) >> 1 : (a + b + 1) >> 1)
GB_UNSIGNED_2(__vavgu, (a + b + 1) >> 1)
GB_UNSIGNED_2(__vhaddu, (a + b) >> 1)
GB_SIGNED_2(__vmaxs, a < b ? b : a)
GB_UNSIGNED_2(__vmaxu, a < b ? b : a)
GB_SIGNED_2(__vmins, b < a ? b : a)
GB_UNSIGNED_2(__vminu, b < a ? b : a)

/* All bits of a part for true, or 1. */
#define GB_COMPARISON(of, kind, op)              \
  GB_##kind##_2(__vcmp##of, a op b ? -1 : 0)     \
  GB_##kind##_2(__vset##of, a op b ? 1 : 0)
GB_COMPARISON(eq, SIGNED, ==)
GB_COMPARISON(ne, SIGNED, !=)
GB_COMPARISON(ges, SIGNED, >=)
GB_COMPARISON(gts, SIGNED, >)
GB_COMPARISON(les, SIGNED, <=)
GB_COMPARISON(lts, SIGNED, <)
GB_COMPARISON(geu, UNSIGNED, >=)
GB_COMPARISON(gtu, UNSIGNED, >)
GB_COMPARISON(leu, UNSIGNED, <=)
GB_COMPARISON(ltu, UNSIGNED, <)
#undef GB_COMPARISON

#define GB_SUM_OF_DIFFERENCES(name, Part)                                                    \
  static inline unsigned int name(unsigned int u, unsigned int v) {                          \
    return gb_sum_of_parts<Part>([](int a, int b) { return a < b ? b - a : a - b; }, u, v);  \
  }
GB_SUM_OF_DIFFERENCES(__vsads2, int16_t)
GB_SUM_OF_DIFFERENCES(__vsads4, int8_t)
GB_SUM_OF_DIFFERENCES(__vsadu2, uint16_t)
GB_SUM_OF_DIFFERENCES(__vsadu4, uint8_t)
#undef GB_SUM_OF_DIFFERENCES

/* Products: four bytes by four bytes, and two halfwords by the low or the high two bytes. */
#define GB_PRODUCTS(T, Byte, Half, bytes, halves)                                                            \
  static inline T __dp4a(T a, T b, T sum) {                                                                  \
    for (int i = 0; i < 4; i++) sum = gb_sum(sum, (T)Byte(a >> 8 * i) * (T)Byte(b >> 8 * i));                \
    return sum;                                                                                              \
  }                                                                                                          \
  static inline T __dp2a_lo(T a, T b, T sum) {                                                               \
    for (int i = 0; i < 2; i++) sum = gb_sum(sum, (T)Half(a >> 16 * i) * (T)Byte(b >> 8 * i));               \
    return sum;                                                                                              \
  }                                                                                                          \
  static inline T __dp2a_hi(T a, T b, T sum) { return __dp2a_lo(a, (T)(unsigned(b) >> 16), sum); }             \
  static inline T __dp4a(bytes a, bytes b, T sum) { return __dp4a(gb_bits<T>(a), gb_bits<T>(b), sum); }      \
  static inline T __dp2a_lo(halves a, bytes b, T sum) { return __dp2a_lo(gb_bits<T>(a), gb_bits<T>(b), sum); } \
  static inline T __dp2a_hi(halves a, bytes b, T sum) { return __dp2a_hi(gb_bits<T>(a), gb_bits<T>(b), sum); }
GB_PRODUCTS(int, int8_t, int16_t, char4, short2)
GB_PRODUCTS(unsigned int, uint8_t, uint16_t, uchar4, ushort2)
#undef GB_PRODUCTS

#undef GB_UNSIGNED_2
#undef GB_SIGNED_2
#undef GB_SIGNED_1
#undef GB_PARTS_2
#undef GB_PARTS_1
