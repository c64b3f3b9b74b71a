//! What a fill can draw.

use std::fmt;

use cargo_gpubench::device::DevicePtr;
use gpubench_harness::arguments::FillArguments;
use gpubench_harness::bindings::*;

/// Element types and their bytes.
pub(crate) const DTYPES: [(u32, u64); 12] = [
    (GB_U8, 1),
    (GB_I8, 1),
    (GB_U16, 2),
    (GB_I16, 2),
    (GB_U32, 4),
    (GB_I32, 4),
    (GB_U64, 8),
    (GB_I64, 8),
    (GB_F16, 2),
    (GB_BF16, 2),
    (GB_F32, 4),
    (GB_F64, 8),
];

const NAMES: [&str; 12] = [
    "u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "f16", "bf16", "f32", "f64",
];

#[derive(Clone, Copy)]
pub(crate) struct Fill {
    what: &'static str,
    pub(crate) size: u64,
    arguments: FillArguments,
}

impl Fill {
    /// In [1, 100).
    pub(crate) fn uniform(dtype: u32, size: u64) -> Fill {
        Fill::new("uniform", dtype, size, GB_FILL_UNIFORM, 1.0, 100.0, 0)
    }

    pub(crate) fn bits(dtype: u32, size: u64) -> Fill {
        Fill::new("bits", dtype, size, GB_FILL_BITS, 0.0, 0.0, 0)
    }

    /// The same but for the last bits.
    pub(crate) fn widened(mut self) -> Fill {
        self.arguments.b *= 1.000_000_3;
        self
    }

    pub(crate) fn arguments(&self, out: DevicePtr, len: u64) -> FillArguments {
        FillArguments {
            out: out.0,
            len,
            ..self.arguments
        }
    }

    fn new(what: &'static str, dtype: u32, size: u64, kind: u32, a: f64, b: f64, span: u64) -> Fill {
        let arguments = FillArguments {
            key: 0x5eed,
            tensor: 1,
            low: 3,
            dtype,
            kind,
            a,
            b,
            span,
            ..Default::default()
        };
        Fill { what, size, arguments }
    }
}

impl fmt::Display for Fill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "fill {} {}", NAMES[self.arguments.dtype as usize], self.what)
    }
}

/// Every kind of fill of every type.
pub(crate) fn fills() -> Vec<Fill> {
    let each = DTYPES.iter().flat_map(|&(dtype, size)| {
        [
            Fill::uniform(dtype, size),
            Fill::new("normal", dtype, size, GB_FILL_NORMAL, 10.0, 2.0, 0),
            Fill::new("integers in 0..100", dtype, size, GB_FILL_INTEGERS, 0.0, 0.0, 100),
            Fill::new("integers in 0..2^40", dtype, size, GB_FILL_INTEGERS, 0.0, 0.0, 1 << 40),
            Fill::new("all integers", dtype, size, GB_FILL_INTEGERS, 0.0, 0.0, 0),
            Fill::bits(dtype, size),
        ]
    });
    each.collect()
}
