//! 8-bit floating-point numbers, as the Open Compute Project (OCP) defines them.
//!
//! The types are for storage only. To compute, convert them to `f32` and back.

use super::half::short_float;

/// OCP E4M3: 1 sign bit, 4 exponent bits, 3 fraction bits. CUDA's `__nv_fp8_e4m3`.
///
/// Numbers reach from -448 to 448. There are no infinities, and one NaN of each sign.
#[derive(Clone, Copy, Default)]
#[repr(transparent)]
pub struct F8E4M3(u8);

/// OCP E5M2: 1 sign bit, 5 exponent bits, 2 fraction bits. CUDA's `__nv_fp8_e5m2`.
///
/// Numbers reach from -57344 to 57344. There are infinities and NaNs, as in
/// [`F16`](crate::F16), of which it is the upper half.
#[derive(Clone, Copy, Default)]
#[repr(transparent)]
pub struct F8E5M2(u8);

/// A format: `FRACTION` bits of fraction, and the rest of exponent.
struct Format<const FRACTION: u32>;

impl<const FRACTION: u32> Format<FRACTION> {
    const BIAS: i32 = (1 << (6 - FRACTION)) - 1;
    /// Bits of the largest number. Those above stand for an infinity or a NaN.
    const LARGEST: u8 = if FRACTION == 3 { 0x7e } else { 0x7b };
    const INFINITY: Option<u8> = if FRACTION == 3 { None } else { Some(0x7c) };

    fn rounded(value: f32) -> u8 {
        let sign = if value.is_sign_negative() { 0x80 } else { 0 };
        if value.is_nan() {
            return sign | 0x7f;
        }
        let magnitude = value.abs();
        // The exponent of the number, or that of subnormal numbers.
        let exponent = ((magnitude.to_bits() >> 23) as i32 - 127).max(1 - Self::BIAS);
        // In units of the last place: exact, then rounded to even. A carry goes to the exponent.
        let places = (f64::from(magnitude) * f64::from(FRACTION as i32 - exponent).exp2()).round_ties_even();
        let bits = f64::from((exponent + Self::BIAS - 1) << FRACTION) + places;
        sign | bits.min(f64::from(Self::LARGEST)) as u8
    }

    fn value(bits: u8) -> f32 {
        let sign = if bits & 0x80 == 0 { 1.0 } else { -1.0 };
        let magnitude = bits & 0x7f;
        let fraction = f32::from(magnitude & ((1 << FRACTION) - 1)) / f32::from(1u8 << FRACTION);
        match i32::from(magnitude >> FRACTION) {
            _ if Some(magnitude) == Self::INFINITY => sign * f32::INFINITY,
            _ if magnitude > Self::LARGEST => f32::NAN.copysign(sign),
            0 => sign * fraction * 2f32.powi(1 - Self::BIAS),
            exponent => sign * (1.0 + fraction) * 2f32.powi(exponent - Self::BIAS),
        }
    }
}

macro_rules! fp8 {
    ($($float:ident $fraction:literal)*) => {$(
        impl $float {
            /// Returns the number with these bits.
            pub const fn from_bits(bits: u8) -> $float {
                $float(bits)
            }

            /// Returns the bits.
            pub const fn to_bits(self) -> u8 {
                self.0
            }

            /// Returns the nearest number, ties to even. Values beyond the largest number, and
            /// infinities, become it, as when CUDA's type is made from a `float`. A NaN stays a NaN
            /// of the same sign.
            pub fn from_f32(value: f32) -> $float {
                $float(Format::<$fraction>::rounded(value))
            }

            /// Returns the same number as `f32`.
            pub fn to_f32(self) -> f32 {
                Format::<$fraction>::value(self.0)
            }
        }
    )*};
}

fp8!(F8E4M3 3 F8E5M2 2);
short_float!(F8E4M3 F8E5M2);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::F16;

    #[test]
    fn every_number_converts_as_defined_and_back() {
        for bits in 0..=u8::MAX {
            // The upper half of an `F16`.
            let (e5m2, half) = (
                F8E5M2::from_bits(bits).to_f32(),
                F16::from_bits(u16::from(bits) << 8).to_f32(),
            );
            assert!(e5m2 == half || e5m2.is_nan() && half.is_nan(), "{bits:#x}: {e5m2}");
            let e4m3 = F8E4M3::from_bits(bits).to_f32();
            assert_eq!(e4m3.is_nan(), bits & 0x7f == 0x7f, "{bits:#x}");
            assert!(!e4m3.is_infinite(), "{bits:#x}");
            for (value, back) in [
                (e4m3, F8E4M3::from_f32(e4m3).to_bits()),
                (e5m2, F8E5M2::from_f32(e5m2).to_bits()),
            ] {
                assert_eq!(value.is_sign_negative(), bits >= 0x80);
                match value {
                    value if value.is_nan() => assert_eq!(back & 0x7f, 0x7f),
                    value if value.is_infinite() => assert_eq!(back & 0x7f, 0x7b),
                    _ => assert_eq!(back, bits),
                }
            }
        }
        assert_eq!(F8E4M3::from_bits(0x7e).to_f32(), 448.0);
        assert_eq!(F8E4M3::from_bits(0x01).to_f32(), 2f32.powi(-9));
        assert_eq!(F8E4M3::from_bits(0x38).to_f32(), 1.0);
        assert_eq!(F8E5M2::from_bits(0x7c).to_f32(), f32::INFINITY);
    }

    #[test]
    fn numbers_round_to_the_nearest_and_ties_to_even() {
        fn check(numbers: impl Fn(u8) -> f32, rounded: impl Fn(f64) -> u8, largest: u8) {
            for bits in 0..largest {
                let (low, high) = (f64::from(numbers(bits)), f64::from(numbers(bits + 1)));
                let middle = low.midpoint(high);
                assert_eq!(rounded(middle), bits + (bits & 1), "{middle}");
                assert_eq!(rounded(middle * (1.0 - 1e-15)), bits, "just below {middle}");
                assert_eq!(
                    rounded(-middle * (1.0 + 1e-15)),
                    0x80 | (bits + 1),
                    "just above {middle}"
                );
            }
            for beyond in [1.01 * f64::from(numbers(largest)), 1e30, f64::INFINITY] {
                assert_eq!(rounded(beyond), largest, "{beyond}");
            }
        }
        let e4m3 = |bits| F8E4M3::from_bits(bits).to_f32();
        check(e4m3, |value| F8E4M3::from_f64(value).to_bits(), 0x7e);
        let e5m2 = |bits| F8E5M2::from_bits(bits).to_f32();
        check(e5m2, |value| F8E5M2::from_f64(value).to_bits(), 0x7b);
    }

    #[test]
    fn a_nan_equals_nothing_and_zeros_are_equal() {
        let nan = F8E4M3::from_f32(f32::NAN);
        assert!(nan.to_f32().is_nan() && nan != nan);
        assert_eq!(F8E4M3::from_f32(-0.0), F8E4M3::default());
        assert_eq!(F8E5M2::from_f32(1e-30).to_bits(), 0);
    }
}
