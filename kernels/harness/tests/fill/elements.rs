//! Filled elements and the fill arguments for each distribution.

use gpubench_harness::arguments::FillArguments;
use gpubench_harness::bindings::*;
use gpubench_harness::{Geometry, Kernel};

use crate::driver::{address_mut, launch, recommended};

pub(crate) const SIZES: [usize; 14] = [1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8, 1, 1];

pub(crate) fn filled(arguments: FillArguments, geometry: Geometry) -> Vec<u8> {
    let bytes = arguments.len as usize * SIZES[arguments.dtype as usize];
    let mut memory = vec![0_u64; bytes.div_ceil(8) + 1];
    *memory.last_mut().expect("a word more") = 0x5a5a_5a5a_5a5a_5a5a;
    let arguments = FillArguments {
        out: address_mut(&mut memory),
        ..arguments
    };
    // SAFETY: the memory holds the elements.
    unsafe { launch(&arguments, geometry) };
    assert_eq!(
        *memory.last().expect("a word more"),
        0x5a5a_5a5a_5a5a_5a5a,
        "written past the end"
    );
    memory.iter().flat_map(|word| word.to_le_bytes()).take(bytes).collect()
}

/// Returns the elements as doubles. 64-bit integers lose low bits.
pub(crate) fn values(arguments: FillArguments) -> Vec<f64> {
    let bytes = filled(arguments, recommended(Kernel::Fill, arguments.len * 8));
    bytes
        .chunks_exact(SIZES[arguments.dtype as usize])
        .map(|element| value(arguments.dtype, element))
        .collect()
}

fn value(dtype: u32, element: &[u8]) -> f64 {
    let mut wide = [0; 8];
    wide[..element.len()].copy_from_slice(element);
    let bits = u64::from_le_bytes(wide);
    match dtype {
        GB_U8 | GB_U16 | GB_U32 | GB_U64 => bits as f64,
        GB_I8 => f64::from(bits as i8),
        GB_I16 => f64::from(bits as i16),
        GB_I32 => f64::from(bits as i32),
        GB_I64 => bits as i64 as f64,
        GB_F16 => half(bits as u16),
        GB_BF16 => f64::from(f32::from_bits((bits as u32) << 16)),
        GB_F32 => f64::from(f32::from_bits(bits as u32)),
        GB_F8E4M3 => e4m3(bits as u8),
        // The upper half of a binary16.
        GB_F8E5M2 => half((bits as u16) << 8),
        _ => f64::from_bits(bits),
    }
}

fn e4m3(bits: u8) -> f64 {
    let (exponent, mantissa) = (i32::from(bits >> 3 & 0xf), f64::from(bits & 7));
    let magnitude = match exponent {
        _ if bits & 0x7f == 0x7f => f64::NAN,
        0 => mantissa * 2_f64.powi(-9),
        _ => (8.0 + mantissa) * 2_f64.powi(exponent - 10),
    };
    if bits >> 7 == 1 { -magnitude } else { magnitude }
}

fn half(bits: u16) -> f64 {
    let (exponent, mantissa) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    let magnitude = match exponent {
        0 => mantissa * 2_f64.powi(-24),
        31 if mantissa == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + mantissa) * 2_f64.powi(exponent - 25),
    };
    if bits >> 15 == 1 { -magnitude } else { magnitude }
}

pub(crate) fn uniform(dtype: u32, len: u64, a: f64, b: f64) -> FillArguments {
    FillArguments {
        len,
        dtype,
        kind: GB_FILL_UNIFORM,
        a,
        b,
        key: 0x1234_5678_9abc_def0,
        tensor: 3,
        ..Default::default()
    }
}

pub(crate) fn integers(dtype: u32, len: u64, low: i64, span: u64) -> FillArguments {
    FillArguments {
        len,
        dtype,
        kind: GB_FILL_INTEGERS,
        low,
        span,
        key: 99,
        tensor: 1,
        ..Default::default()
    }
}

pub(crate) fn normal(dtype: u32, len: u64, mean: f64, deviation: f64) -> FillArguments {
    FillArguments {
        kind: GB_FILL_NORMAL,
        ..uniform(dtype, len, mean, deviation)
    }
}
