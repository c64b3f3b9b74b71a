/* Minima, maxima and sums for dynamic programming (DPX): of words, and of the halfwords of a word.
 * Sums wrap around. */
#pragma once

template <class T>
static inline T gb_least(T a, T b) {
  return b < a ? b : a;
}
template <class T>
static inline T gb_most(T a, T b) {
  return a < b ? b : a;
}

#define GB_SCORES(T, word, Part, parts, ...)                                                      \
  static inline T word(T a, T b, T c) {                                                           \
    using part = T;                                                                               \
    return __VA_ARGS__;                                                                           \
  }                                                                                               \
  static inline unsigned int parts(unsigned int u, unsigned int v, unsigned int w) {              \
    using part = Part;                                                                            \
    return gb_by_part<part>([](int a, int b, int c) { return __VA_ARGS__; }, u, v, w);            \
  }
#define GB_SCORE(name, ...)                                                                       \
  GB_SCORES(int, name##_s32, int16_t, name##_s16x2, __VA_ARGS__)                                  \
  GB_SCORES(unsigned int, name##_u32, uint16_t, name##_u16x2, __VA_ARGS__)                        \
  GB_SCORES(int, name##_s32_relu, int16_t, name##_s16x2_relu, gb_most(0, __VA_ARGS__))
GB_SCORE(__vimax3, gb_most(gb_most(a, b), c))
GB_SCORE(__vimin3, gb_least(gb_least(a, b), c))
GB_SCORE(__viaddmax, gb_most(decltype(a)(part(gb_sum(a, b))), c))
GB_SCORE(__viaddmin, gb_least(decltype(a)(part(gb_sum(a, b))), c))
#undef GB_SCORE
#undef GB_SCORES

static inline int __vimax_s32_relu(int a, int b) { return __vimax3_s32(a, b, 0); }
static inline int __vimin_s32_relu(int a, int b) { return gb_most(0, gb_least(a, b)); }
static inline unsigned int __vimax_s16x2_relu(unsigned int a, unsigned int b) { return __vimax3_s16x2(a, b, 0); }
static inline unsigned int __vimin_s16x2_relu(unsigned int a, unsigned int b) { return __vimin3_s16x2_relu(a, b, b); }

/* The first operand, and true, if both are equal. */
#define GB_CHOICE(name, op)                                                                                        \
  static inline int name##_s32(int a, int b, bool *first) { return (*first = a op b) ? a : b; }                    \
  static inline unsigned int name##_u32(unsigned int a, unsigned int b, bool *first) { return (*first = a op b) ? a : b; } \
  static inline unsigned int name##_s16x2(unsigned int a, unsigned int b, bool *first_high, bool *first_low) {     \
    const int high = name##_s32(int16_t(a >> 16), int16_t(b >> 16), first_high);                                   \
    return unsigned(high) << 16 | uint16_t(name##_s32(int16_t(a), int16_t(b), first_low));                         \
  }                                                                                                                \
  static inline unsigned int name##_u16x2(unsigned int a, unsigned int b, bool *first_high, bool *first_low) {     \
    return name##_u32(a >> 16, b >> 16, first_high) << 16 | name##_u32(a & 0xffffu, b & 0xffffu, first_low);       \
  }
GB_CHOICE(__vibmax, >=)
GB_CHOICE(__vibmin, <=)
#undef GB_CHOICE
