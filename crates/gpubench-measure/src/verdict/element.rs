//! Values of elements from their bits.

use gpubench::catalog::DType;
use gpubench::{BF16, F8E4M3, F8E5M2, F16};
use gpubench_contract::ElementValue;

/// Returns the value of an element of type `dtype` from its bits, zero-extended to 64.
pub(crate) fn element_value(dtype: DType, bits: u64) -> ElementValue {
    match dtype {
        DType::U8 => u64::from(bits as u8).into(),
        DType::U16 => u64::from(bits as u16).into(),
        DType::U32 => u64::from(bits as u32).into(),
        DType::U64 => bits.into(),
        DType::I8 => i64::from(bits as i8).into(),
        DType::I16 => i64::from(bits as i16).into(),
        DType::I32 => i64::from(bits as i32).into(),
        DType::I64 => (bits as i64).into(),
        DType::F16 => F16::from_bits(bits as u16).to_f32().into(),
        DType::BF16 => BF16::from_bits(bits as u16).to_f32().into(),
        DType::F32 => f32::from_bits(bits as u32).into(),
        DType::F64 => f64::from_bits(bits).into(),
        DType::F8E4M3 => F8E4M3::from_bits(bits as u8).to_f32().into(),
        DType::F8E5M2 => F8E5M2::from_bits(bits as u8).to_f32().into(),
        DType::Complex32 => [bits as u32, (bits >> 32) as u32].map(f32::from_bits).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(dtype: DType, bits: u64) -> String {
        element_value(dtype, bits).to_string()
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
    fn each_type_of_integer_takes_its_own_bits() {
        for (dtype, value) in [
            (DType::U8, "238"),
            (DType::U16, "52462"),
            (DType::U32, "2864368878"),
            (DType::U64, "9838282271264263406"),
            (DType::I8, "-18"),
            (DType::I16, "-13074"),
            (DType::I32, "-1430598418"),
            (DType::I64, "-8608461802445288210"),
        ] {
            assert_eq!(shown(dtype, 0x8888_9999_aaba_ccee_u64), value, "{dtype:?}");
        }
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
        assert_eq!(shown(DType::F8E4M3, 0x7e), "448.0");
        assert_eq!(shown(DType::F8E5M2, 0x3c), "1.0");
        assert_eq!(shown(DType::Complex32, 0xbf80_0000_3dcc_cccd), "0.1-1.0i");
    }

    #[test]
    fn non_finite_values_are_words() {
        assert_eq!(shown(DType::F16, 0x7c00), "inf");
        assert_eq!(shown(DType::F8E4M3, 0x7f), "NaN");
        assert_eq!(shown(DType::F8E5M2, 0xfc), "-inf");
        assert_eq!(shown(DType::Complex32, 0x7f80_0000_7fc0_0000), "NaN+infi");
        assert_eq!(shown(DType::F32, u64::from(f32::NEG_INFINITY.to_bits())), "-inf");
    }
}
