// Normal numbers as quantiles: one uniform number x in (-1, 1) is taken to where the normal distribution has the same share of
// its numbers below. Giles 2010, "Approximating the erfinv function": the quantile is x times a function of log(1 - x^2) that is
// as good as a polynomial. Coefficients of our own; only operations that IEEE 754 rounds correctly, so that every device
// yields the same bits.
//
// The logarithm is the number's representation read as an integer, linear between powers of two, and a polynomial in the
// mantissa that makes up for that.
#pragma once

#include "draw.cuh"

namespace gb {

// The mantissa, in [1, 2).
GB_INLINE float mantissa(float x) { return float_of((bits_of(x) & 0x7fffffu) | 0x3f800000u); }

template <uint32_t BYTES>
struct Normal;

// From 16 bits: 2^16 numbers up to 4.3, off by 0.005 at most, their density by 2.5 %.
template <>
struct Normal<2> {
  // So small that the representation of 1 - x^2 is that of a number of few powers of two above the smallest.
  static constexpr float SHRUNK = 0x1p-54f;
  static constexpr uint32_t TERMS = 5;
  float terms[TERMS];

  // Of standard deviation `scale`. Every power of two is 2^23 in what is read as an integer.
  static GB_INLINE Normal scaled(float scale) {
    constexpr float STEP = 0x1p-23f;
    const float unit = scale * (2.0f / SHRUNK);
    return Normal{{4.83088209f * unit, -0.168405031f * STEP * unit, 0.00442144812f * STEP * STEP * unit,
                   -0.000603982233f * STEP * STEP * STEP * unit, 1.49054586e-05f * STEP * STEP * STEP * STEP * unit}};
  }
  // `mean` and a normal number.
  GB_INLINE float number(const uint32_t *words, uint32_t i, float mean) const {
    // x / 2, shrunk.
    const float x = float_of(0x28000000u | Draw<2>::whole(words, i)) - 128.5f * SHRUNK;
    // A little more than 1/4, so that the outermost x, which is -1, has a logarithm.
    const float v = fused(-x, x, (0.25f + 0x1p-18f) * SHRUNK * SHRUNK);
    const float m = mantissa(v);
    constexpr float POWER = 0x1p23f;
    const float made_up = fused(fused(0.156386113f * POWER, m, -1.04640899f * POWER), m, 2.04452418f * POWER);
    const float logarithm = fused(made_up, m, (float)(int32_t)bits_of(v));
    float factor = terms[TERMS - 1];
    GB_UNROLL for (int k = TERMS - 2; k >= 0; --k) factor = fused(factor, logarithm, terms[k]);
    return fused(x, factor, mean);
  }
};

// From the upper 25 of 32 bits: 2^24 numbers up to 5.4, off by 0.0003 at most, their density by 0.6 %.
template <>
struct Normal<4> {
  static constexpr uint32_t TERMS = 8;
  float terms[TERMS];

  static GB_INLINE Normal scaled(float scale) {
    return Normal{{1.61048717f * scale, -0.24358043f * scale, 0.00289340369f * scale, 0.00137472014f * scale, 0.000126846569f * scale,
                   6.0808239e-06f * scale, 1.53053184e-07f * scale, 1.59499094e-09f * scale}};
  }
  GB_INLINE float of_word(uint32_t word, float mean) const {
    // Odd, so neither of its ends is reached.
    const float x = (float)((int32_t)word >> 7 | 1) * 0x1p-24f;
    const float v = fused(-x, x, 1.0f);
    const float m = mantissa(v);
    const float made_up = fused(fused(fused(-0.0803073039f, m, 0.638229937f), m, -2.10762265f), m, 3.05983795f);
    const float logarithm = fused((float)(int32_t)(bits_of(v) - 0x3f800000u), 0x1p-23f, made_up * m);
    float factor = terms[TERMS - 1];
    GB_UNROLL for (int k = TERMS - 2; k >= 0; --k) factor = fused(factor, logarithm, terms[k]);
    return fused(x, factor, mean);
  }
  GB_INLINE float number(const uint32_t *words, uint32_t i, float mean) const { return of_word(words[i], mean); }
};

// The one from the low word; the 29 bits of mantissa that a float does not have are from the high word.
template <>
struct Normal<8> {
  Normal<4> narrow;

  static GB_INLINE Normal scaled(double) { return Normal{Normal<4>::scaled(1.0f)}; }
  GB_INLINE double number(const uint32_t *words, uint32_t i, double) const {
    const uint32_t bits = bits_of(narrow.of_word(Draw<8>::low(words, i), 0.0f));
    // Neither zero nor denormal, so exponents differ by a constant.
    const uint32_t high = (bits & 0x80000000u) | (((bits & 0x7fffffffu) >> 3) + ((1023u - 127u) << 20));
    const uint32_t low = bits << 29 | Draw<8>::high(words, i) >> 3;
    return double_of((uint64_t)high << 32 | low);
  }
};

// Standard deviations that can be multiplied into the terms without leaving the range of a float.
GB_INLINE bool scales_terms(float deviation) { return deviation >= 0x1p-60f && deviation <= 0x1p60f; }

}  // namespace gb
