/* 8-bit floating-point numbers. Either 5 bits of exponent and 2 of mantissa, with infinities, or
 * 4 and 3, without. */
#pragma once

template <int FRACTION>
struct gb_fp8 {
  static constexpr int least_exponent = FRACTION == 3 ? -6 : -14;
  static constexpr unsigned char largest = FRACTION == 3 ? 0x7e : 0x7b, beyond = FRACTION == 3 ? 0x7f : 0x7c;

  static inline float to_float(unsigned char bits) {
    const int exponent = bits >> FRACTION & (0x7f >> FRACTION), fraction = bits & ((1 << FRACTION) - 1);
    const float sign = bits & 0x80 ? -1.0f : 1.0f;
    if ((bits & 0x7f) > (FRACTION == 3 ? largest : beyond)) return gb_bits<float>(0x7fc00000u | (bits & 0x80u) << 24);
    if ((bits & 0x7f) > largest) return sign * INFINITY;
    if (exponent == 0) return sign * std::ldexp(float(fraction), least_exponent - FRACTION);
    return sign * std::ldexp(float(fraction + (1 << FRACTION)), exponent - 1 + least_exponent - FRACTION);
  }

  /* Rounds to nearest even. Larger values become the largest number, or infinity or NaN. */
  static inline unsigned char from_double(double v, bool saturates) {
    const unsigned char sign = std::signbit(v) ? 0x80 : 0;
    if (v != v) return sign | (FRACTION == 3 ? 0x7f : 0x7e);
    if (std::isinf(v)) return sign | (saturates ? largest : beyond);
    const double size = std::fabs(v);
    const int exponent = size == 0.0 ? least_exponent : std::max(std::ilogb(size), least_exponent);
    /* In units of the last kept bit. Rounding up to the next power of two carries into the
     * exponent. */
    const double kept = std::nearbyint(std::ldexp(size, FRACTION - exponent));
    const int bits = int(std::min(kept, 1024.0)) + ((std::min(exponent, 64) - least_exponent) << FRACTION);
    if (bits > largest) return sign | (saturates ? largest : beyond);
    return sign | (unsigned char)bits;
  }
};
