//! 16-bit floating-point numbers.
//!
//! The types are for storage only. To compute, convert them to `f32` and back. Conversions round to
//! nearest, ties to even.

/// IEEE 754 binary16: 1 sign bit, 5 exponent bits, 10 fraction bits. CUDA's `__half`.
#[derive(Clone, Copy, Default)]
#[repr(transparent)]
pub struct F16(u16);

/// bfloat16: the upper half of an `f32`. CUDA's `__nv_bfloat16`.
#[derive(Clone, Copy, Default)]
#[repr(transparent)]
pub struct BF16(u16);

impl F16 {
    /// Returns the number with these bits.
    pub const fn from_bits(bits: u16) -> F16 {
        F16(bits)
    }

    /// Returns the bits.
    pub const fn to_bits(self) -> u16 {
        self.0
    }

    /// Returns the nearest number, ties to even. It is infinite from 65520 on. A NaN stays a NaN of
    /// the same sign.
    pub fn from_f32(value: f32) -> F16 {
        let bits = value.to_bits();
        let sign = (bits >> 16) as u16 & 0x8000;
        let magnitude = bits & 0x7fff_ffff;
        const INFINITY: u32 = 0x7f80_0000;
        /// 2^-14, the smallest normal number.
        const SMALLEST_NORMAL: u32 = 0x3880_0000;
        /// 65520, halfway between the largest number and the next power of two.
        const OVERFLOW: u32 = 0x477f_f000;
        let rounded = if magnitude > INFINITY {
            0x7e00 | (magnitude >> 13) as u16 & 0x03ff
        } else if magnitude >= OVERFLOW {
            0x7c00
        } else if magnitude >= SMALLEST_NORMAL {
            let rebiased = magnitude - ((127 - 15) << 23);
            round_off(rebiased, 13)
        } else {
            // Adding one half moves the bits, in units of 2^-24, to the low end of the fraction.
            // The addition rounds to nearest even.
            let shifted = f32::from_bits(magnitude) + 0.5;
            (shifted.to_bits() - 0.5f32.to_bits()) as u16
        };
        F16(sign | rounded)
    }

    /// Returns the same number as `f32`.
    pub fn to_f32(self) -> f32 {
        let sign = u32::from(self.0 & 0x8000) << 16;
        let exponent = u32::from(self.0 >> 10) & 0x1f;
        let fraction = u32::from(self.0) & 0x03ff;
        let magnitude = match exponent {
            0 => (fraction as f32 * (1.0 / 16_777_216.0)).to_bits(),
            31 => 0x7f80_0000 | fraction << 13,
            _ => (exponent + 127 - 15) << 23 | fraction << 13,
        };
        f32::from_bits(sign | magnitude)
    }
}

impl BF16 {
    /// Returns the number with these bits.
    pub const fn from_bits(bits: u16) -> BF16 {
        BF16(bits)
    }

    /// Returns the bits.
    pub const fn to_bits(self) -> u16 {
        self.0
    }

    /// Returns the nearest number, ties to even. A NaN stays a NaN of the same sign.
    pub fn from_f32(value: f32) -> BF16 {
        let bits = value.to_bits();
        if value.is_nan() {
            // The quiet bit stops a NaN with an upper fraction of zero from becoming an infinity.
            return BF16((bits >> 16) as u16 | 0x0040);
        }
        BF16(round_off(bits, 16))
    }

    /// Returns the same number as `f32`.
    pub fn to_f32(self) -> f32 {
        f32::from_bits(u32::from(self.0) << 16)
    }
}

/// Returns `value` without its lowest `bits`, rounded to nearest, ties to even.
fn round_off(value: u32, bits: u32) -> u16 {
    let odd = value >> bits & 1;
    ((value + (1 << (bits - 1)) - 1 + odd) >> bits) as u16
}

/// Rounds to `f32` so that rounding again, to fewer digits, gives the nearest number: a result that
/// is not exact gets an odd last bit, which no tie has.
pub(super) fn to_odd(value: f64) -> f32 {
    let nearest = value as f32;
    if f64::from(nearest) == value || !nearest.is_finite() {
        return nearest;
    }
    if nearest.to_bits() & 1 == 1 {
        return nearest;
    }
    let is_above = f64::from(nearest).abs() > value.abs();
    f32::from_bits(if is_above {
        nearest.to_bits() - 1
    } else {
        nearest.to_bits() + 1
    })
}

/// The conversions, comparisons and formats of a type that has `from_f32` and `to_f32`.
macro_rules! short_float {
    ($($float:ident)*) => {$(
        impl $float {
            /// Returns the nearest number, ties to even. A NaN stays a NaN.
            pub fn from_f64(value: f64) -> $float {
                $float::from_f32($crate::element::half::to_odd(value))
            }
        }

        impl From<f64> for $float {
            fn from(value: f64) -> $float {
                $float::from_f64(value)
            }
        }

        impl From<f32> for $float {
            fn from(value: f32) -> $float {
                $float::from_f32(value)
            }
        }

        impl From<$float> for f32 {
            fn from(value: $float) -> f32 {
                value.to_f32()
            }
        }

        impl From<$float> for f64 {
            fn from(value: $float) -> f64 {
                value.to_f32().into()
            }
        }

        impl PartialEq for $float {
            fn eq(&self, other: &$float) -> bool {
                self.to_f32() == other.to_f32()
            }
        }

        impl PartialOrd for $float {
            fn partial_cmp(&self, other: &$float) -> Option<std::cmp::Ordering> {
                self.to_f32().partial_cmp(&other.to_f32())
            }
        }

        impl std::fmt::Debug for $float {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Debug::fmt(&self.to_f32(), f)
            }
        }

        impl std::fmt::Display for $float {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(&self.to_f32(), f)
            }
        }
    )*};
}

pub(super) use short_float;
short_float!(F16 BF16);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_f64_is_rounded_once(value in prop_oneof![any::<f64>(), -7e4..7e4, -1e-6..1e-6]) {
            let nearest = F16::from_f64(value);
            let distance = |half: F16| (f64::from(half) - value).abs();
            if nearest.to_f32().is_finite() && !value.is_nan() {
                for neighbour in [nearest.to_bits().wrapping_sub(1), nearest.to_bits().wrapping_add(1)] {
                    let neighbour = F16::from_bits(neighbour);
                    let is_farther = neighbour.to_f32().is_nan() || distance(neighbour) >= distance(nearest);
                    prop_assert!(is_farther, "{value}: {nearest} {neighbour}");
                }
            }
        }
    }

    #[test]
    fn rounding_by_way_of_f32_does_not_round_twice() {
        // Just above the tie between 1 and the next number, and below it for an `f32`.
        let above_tie = 1.0 + 2f64.powi(-11) + 2f64.powi(-40);
        assert_eq!(F16::from_f64(above_tie).to_bits(), F16::from_f64(1.0).to_bits() + 1);
        assert_eq!(BF16::from_f64(1.0 + 2f64.powi(-8) + 2f64.powi(-40)).to_bits(), 0x3f81);
        assert!(F16::from_f64(f64::NAN).to_f32().is_nan());
        assert_eq!(F16::from_f64(1e300).to_f32(), f32::INFINITY);
        assert_eq!(F16::from_f64(-1e-300).to_bits(), 0x8000);
    }

    /// Returns the value of a format with `exponent` and `fraction` bits, by the definition in IEEE
    /// 754.
    fn decode(bits: u16, exponent: u32, fraction: u32) -> f64 {
        let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
        let bias = (1i32 << (exponent - 1)) - 1;
        let e = i32::from(bits >> fraction & ((1 << exponent) - 1));
        let f = f64::from(bits & ((1 << fraction) - 1)) / f64::from(1u32 << fraction);
        if e == (1 << exponent) - 1 {
            return if f == 0.0 { sign * f64::INFINITY } else { f64::NAN };
        }
        if e == 0 {
            sign * f * 2f64.powi(1 - bias)
        } else {
            sign * (1.0 + f) * 2f64.powi(e - bias)
        }
    }

    /// Searches all numbers of a format for the nearest one, ties to even. `step` is the distance
    /// to the number that stands for infinity.
    fn nearest(value: f32, exponent: u32, fraction: u32) -> u16 {
        let value = f64::from(value);
        let sign = if value.is_sign_negative() { 0x8000u16 } else { 0 };
        let infinity = ((1u16 << exponent) - 1) << fraction;
        let magnitude = value.abs();
        let numbers: Vec<u16> = (0..=infinity).collect();
        let stand_in = 2f64.powi(1 << (exponent - 1));
        let number = |bits: u16| {
            if bits == infinity {
                stand_in
            } else {
                decode(bits, exponent, fraction)
            }
        };
        if magnitude.is_infinite() {
            return sign | infinity;
        }
        let above = numbers
            .partition_point(|&bits| number(bits) < magnitude)
            .min(numbers.len() - 1);
        let below = above.saturating_sub(1);
        let (above, below) = (numbers[above], numbers[below]);
        let (up, down) = ((number(above) - magnitude).abs(), (magnitude - number(below)).abs());
        sign | if up < down || (up == down && above % 2 == 0) {
            above
        } else {
            below
        }
    }

    #[test]
    fn every_f16_and_bf16_converts_as_defined_and_back() {
        for bits in 0..=u16::MAX {
            let half = F16::from_bits(bits);
            let expected = decode(bits, 5, 10);
            assert!(
                expected.is_nan() && half.to_f32().is_nan() || f64::from(half) == expected,
                "{bits:#x}"
            );
            if !expected.is_nan() {
                assert_eq!(F16::from_f32(half.to_f32()).to_bits(), bits);
            } else {
                assert!(F16::from_f32(half.to_f32()).to_f32().is_nan());
            }
            let brain = BF16::from_bits(bits);
            let expected = decode(bits, 8, 7);
            assert!(
                expected.is_nan() && brain.to_f32().is_nan() || f64::from(brain) == expected,
                "{bits:#x}"
            );
            if !expected.is_nan() {
                assert_eq!(BF16::from_f32(brain.to_f32()).to_bits(), bits);
            } else {
                assert!(BF16::from_f32(brain.to_f32()).to_f32().is_nan());
            }
        }
    }

    #[test]
    fn halves_round_ties_to_even_and_overflow_to_infinity() {
        assert_eq!(F16::from_f32(65519.996).to_bits(), 0x7bff);
        assert_eq!(F16::from_f32(65520.0).to_bits(), 0x7c00);
        assert_eq!(F16::from_f32(2049.0).to_f32(), 2048.0);
        assert_eq!(F16::from_f32(2051.0).to_f32(), 2052.0);
        assert_eq!(F16::from_f32(2f32.powi(-25)).to_bits(), 0);
        assert_eq!(F16::from_f32(-0.0).to_bits(), 0x8000);
        assert_eq!(BF16::from_f32(257.0).to_f32(), 256.0);
        assert_eq!(BF16::from_f32(259.0).to_f32(), 260.0);
        assert_eq!(BF16::from_f32(f32::MAX).to_f32(), f32::INFINITY);
        assert!(BF16::from_f32(f32::from_bits(0x7f80_0001)).to_f32().is_nan());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn any_f32_rounds_to_the_nearest_half(bits: u32) {
            let value = f32::from_bits(bits);
            prop_assume!(!value.is_nan());
            prop_assert_eq!(F16::from_f32(value).to_bits(), nearest(value, 5, 10));
            prop_assert_eq!(BF16::from_f32(value).to_bits(), nearest(value, 8, 7));
        }

        #[test]
        fn numbers_near_the_range_of_halves_round_to_the_nearest(exponent in -30i32..17, fraction in 0u32..1 << 23) {
            let value = f32::from_bits(((exponent + 127) as u32) << 23 | fraction);
            prop_assert_eq!(F16::from_f32(value).to_bits(), nearest(value, 5, 10));
            // Exactly halfway between two neighbours.
            let tie = f32::from_bits(((exponent + 127) as u32) << 23 | (fraction & !0x1fff) | 0x1000);
            prop_assert_eq!(F16::from_f32(tie).to_bits(), nearest(tie, 5, 10));
        }
    }
}
