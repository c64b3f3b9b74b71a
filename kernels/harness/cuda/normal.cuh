// Normal numbers of float and double as quantiles: a uniform number x in [-1, 1] maps to the number
// below which the normal distribution has the same share. Giles 2010, "Approximating the erfinv
// function": the quantile is x times a function of log(1 - x^2) that a polynomial approximates
// well. The coefficients were computed for this file. Only operations that IEEE 754 rounds
// correctly are used, so that every device yields the same bits.
//
// The logarithm is the representation of the number read as an integer, which is linear between
// powers of two. A polynomial in the mantissa corrects the difference.
#pragma once

#include "normal_sum.cuh"

namespace gb {

// The mantissa, in [1, 2).
GB_INLINE float mantissa(float x) {
#if !defined(__GPUBENCH_CPU__)
  // One operation, although it looks like two to the compiler.
  uint32_t bits;
  asm("lop3.b32 %0, %1, %2, %3, 0xea;" : "=r"(bits) : "r"(bits_of(x)), "r"(0x7fffffu), "r"(0x3f800000u));
  return float_of(bits);
#else
  return float_of((bits_of(x) & 0x7fffffu) | 0x3f800000u);
#endif
}

template <uint32_t BYTES>
struct Normal;

// Sums, one in each half of a word.
template <>
struct Normal<2> {
  Notch<2> notch;
  float step;
  float zero;

  static GB_INLINE Normal scaled(float mean, float scale) {
    // A half is 2^-16 times itself, below 128.
    const float step = scale * (0x1p16f / NormalSums::DEVIATION);
    return Normal{Notch<2>::prepared(), step, fused(-(128.0f + NormalSums::MEAN * 0x1p-16f), step, mean)};
  }
  static GB_INLINE void mix_block(uint32_t *words) { NormalSums::mix_block(words); }
  GB_INLINE float number(const uint32_t *words, uint32_t i) const { return fused(step, notch.of(words, i), zero); }
};

// From 32 bits: up to 5.4 standard deviations, off by at most 0.0017. The density is off by 1.5 %
// up to 4 standard deviations and 2 % up to 5.
template <>
struct Normal<4> {
  static constexpr uint32_t TERMS = 7;
  float terms[TERMS];
  float mean;

  static GB_INLINE Normal scaled(float mean, float scale) {
    // Draws are signed integers.
    const float unit = scale * 0x1p-31f;
    return Normal{{1.52509822f * unit, -0.238752184f * unit, 0.00630241984f * unit, 0.00199334156f * unit, 0.000176802397f * unit,
                   7.44398737e-06f * unit, 1.23544918e-07f * unit}, mean};
  }
  static GB_INLINE void mix_block(uint32_t *) {}
  GB_INLINE float number(const uint32_t *words, uint32_t i) const { return of_word(words[i]); }

  GB_INLINE float of_word(uint32_t word) const {
    const float x = (float)(int32_t)word;
    // A little more than 1, so that the outermost x, -1 and 1, have a logarithm.
    const float v = fused(-x, x, 0x1p62f + 0x1p39f);
    const float m = mantissa(v);
    // Exponents are offset by 127, that of the type, and by 62, twice the 31 of the draws.
    constexpr float OFFSET = 127.0f + 62.0f;
    const float made_up = fused(fused(fused(0.153690037f, m, -1.04095197f), m, 2.04721082f), m, -OFFSET);
    const float logarithm = fused((float)(int32_t)bits_of(v), 0x1p-23f, made_up);
    float factor = terms[TERMS - 1];
    GB_UNROLL for (int k = TERMS - 2; k >= 0; --k) factor = fused(factor, logarithm, terms[k]);
    return fused(x, factor, mean);
  }
};

// One number from the low word. The 29 bits of mantissa that a float lacks come from the high word.
template <>
struct Normal<8> {
  Normal<4> narrow;

  static GB_INLINE Normal scaled(double, double) { return Normal{Normal<4>::scaled(0.0f, 1.0f)}; }
  static GB_INLINE void mix_block(uint32_t *) {}
  GB_INLINE double number(const uint32_t *words, uint32_t i) const {
    const uint32_t bits = bits_of(narrow.of_word(Draw<8>::low(words, i)));
    // Not denormal, so exponents differ by a constant. Zero becomes a number next to it.
    const uint32_t high = (bits & 0x80000000u) | (((bits & 0x7fffffffu) >> 3) + ((1023u - 127u) << 20));
    const uint32_t low = bits << 29 | Draw<8>::high(words, i) >> 3;
    return double_of((uint64_t)high << 32 | low);
  }
};

// Standard deviations that can be multiplied into the terms without leaving the range of a float.
GB_INLINE bool scales_terms(float deviation) { return deviation >= 0x1p-60f && deviation <= 0x1p60f; }

}  // namespace gb
