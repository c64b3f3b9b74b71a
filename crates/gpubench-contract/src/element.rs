//! One element of an output, as a record shows it.

use std::fmt;

use gpubench::catalog::DType;
use serde::{Deserialize, Serialize};

use super::words::words;

/// The value of an element: a JSON number, or a word if JSON has no number for it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum ElementValue {
    /// A non-negative integer.
    Unsigned(u64),
    /// A negative integer.
    Signed(i64),
    /// A finite floating-point number, in the shortest decimal form that parses back to the same
    /// value of its element type.
    Float(f64),
    /// A floating-point value that JSON has no number for.
    NotFinite(NotFinite),
}

words! {
    /// Floating-point values that JSON has no number for.
    pub enum NotFinite {
        /// Not a number.
        Nan = "NaN",
        /// Positive infinity.
        Infinity = "inf",
        /// Negative infinity.
        NegativeInfinity = "-inf",
    }
}

impl ElementValue {
    /// Returns the value of an element of type `dtype` from its bits, zero-extended to 64.
    pub fn from_bits(dtype: DType, bits: u64) -> ElementValue {
        match dtype {
            DType::U8 => ElementValue::Unsigned(u64::from(bits as u8)),
            DType::U16 => ElementValue::Unsigned(u64::from(bits as u16)),
            DType::U32 => ElementValue::Unsigned(u64::from(bits as u32)),
            DType::U64 => ElementValue::Unsigned(bits),
            DType::I8 => ElementValue::from_signed(i64::from(bits as i8)),
            DType::I16 => ElementValue::from_signed(i64::from(bits as i16)),
            DType::I32 => ElementValue::from_signed(i64::from(bits as i32)),
            DType::I64 => ElementValue::from_signed(bits as i64),
            DType::F16 => ElementValue::from_f32(f32_from_f16(bits as u16)),
            DType::BF16 => ElementValue::from_f32(f32::from_bits(u32::from(bits as u16) << 16)),
            DType::F32 => ElementValue::from_f32(f32::from_bits(bits as u32)),
            DType::F64 => ElementValue::from_f64(f64::from_bits(bits)),
        }
    }

    fn from_signed(value: i64) -> ElementValue {
        u64::try_from(value).map_or(ElementValue::Signed(value), ElementValue::Unsigned)
    }

    /// Converts to the `f64` with the same shortest decimal form: 0.1, not 0.10000000149011612.
    fn from_f32(value: f32) -> ElementValue {
        let shortest = value.to_string().parse().unwrap_or(f64::from(value));
        ElementValue::from_f64(shortest)
    }

    fn from_f64(value: f64) -> ElementValue {
        if value.is_nan() {
            ElementValue::NotFinite(NotFinite::Nan)
        } else if value == f64::INFINITY {
            ElementValue::NotFinite(NotFinite::Infinity)
        } else if value == f64::NEG_INFINITY {
            ElementValue::NotFinite(NotFinite::NegativeInfinity)
        } else {
            ElementValue::Float(value)
        }
    }
}

impl fmt::Display for ElementValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ElementValue::Unsigned(value) => value.fmt(f),
            ElementValue::Signed(value) => value.fmt(f),
            ElementValue::Float(value) => write!(f, "{value:?}"),
            ElementValue::NotFinite(value) => f.write_str(value.as_str()),
        }
    }
}

/// Converts IEEE 754 binary16 to binary32. The result is exact.
fn f32_from_f16(bits: u16) -> f32 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let exponent = i32::from(bits >> 10 & 0x1f);
    let fraction = f32::from(bits & 0x3ff);
    match exponent {
        0 => sign * fraction * 2f32.powi(-24),
        31 if fraction == 0.0 => sign * f32::INFINITY,
        31 => f32::NAN,
        _ => sign * (1.0 + fraction / 1024.0) * 2f32.powi(exponent - 15),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(dtype: DType, bits: u64) -> String {
        ElementValue::from_bits(dtype, bits).to_string()
    }

    #[test]
    fn integers_keep_their_sign_and_every_digit() {
        assert_eq!(shown(DType::I8, 0xff), "-1");
        assert_eq!(shown(DType::I32, 0x8000_0000), "-2147483648");
        assert_eq!(shown(DType::U64, u64::MAX), "18446744073709551615");
        assert_eq!(shown(DType::I64, u64::MAX), "-1");
        assert_eq!(shown(DType::U8, 0x1_02), "2");
    }

    #[test]
    fn floats_are_shown_in_the_shortest_form_of_their_own_type() {
        assert_eq!(shown(DType::F32, u64::from(0.1f32.to_bits())), "0.1");
        assert_eq!(shown(DType::F64, 0.1f64.to_bits()), "0.1");
        assert_eq!(shown(DType::F16, 0x3c00), "1.0");
        assert_eq!(shown(DType::F16, 0xc000), "-2.0");
        assert_eq!(shown(DType::F16, 0x7bff), "65504.0");
        assert_eq!(shown(DType::F16, 0x0001), "5.9604645e-8");
        assert_eq!(shown(DType::BF16, 0x3f80), "1.0");
    }

    #[test]
    fn non_finite_values_are_words_in_json() {
        assert_eq!(shown(DType::F16, 0x7c00), "inf");
        assert_eq!(shown(DType::F32, u64::from(f32::NEG_INFINITY.to_bits())), "-inf");
        let nan = ElementValue::from_bits(DType::F64, f64::NAN.to_bits());
        assert_eq!(serde_json::to_string(&nan).unwrap(), "\"NaN\"");
    }

    #[test]
    fn values_round_trip_through_json() {
        for (dtype, bits) in [
            (DType::U64, u64::MAX),
            (DType::I64, i64::MIN as u64),
            (DType::F32, u64::from(1.5f32.to_bits())),
            (DType::F32, u64::from(f32::INFINITY.to_bits())),
        ] {
            let value = ElementValue::from_bits(dtype, bits);
            let json = serde_json::to_string(&value).unwrap();
            assert_eq!(serde_json::from_str::<ElementValue>(&json).unwrap(), value, "{json}");
        }
    }
}
