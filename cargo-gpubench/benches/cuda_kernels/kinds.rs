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

    /// Whether its bandwidth matters: real numbers of floating-point types, and integers that the type has.
    fn is_common(&self) -> bool {
        let floating = self.arguments.dtype >= GB_F16;
        match self.arguments.kind {
            GB_FILL_UNIFORM | GB_FILL_NORMAL => floating,
            GB_FILL_INTEGERS => {
                !floating && self.arguments.span != 0 && self.arguments.span < 1 << (8 * self.size - 1).min(63)
            }
            _ => false,
        }
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

/// Every kind of fill of every type, first those that inputs are made with most.
pub(crate) fn fills() -> Vec<Fill> {
    let mut fills: Vec<Fill> = DTYPES.iter().flat_map(|&(dtype, size)| of_type(dtype, size)).collect();
    fills.sort_by_key(|fill| !fill.is_common());
    fills
}

fn of_type(dtype: u32, size: u64) -> [Fill; 9] {
    let integers = |what, span| Fill::new(what, dtype, size, GB_FILL_INTEGERS, 0.0, 0.0, span);
    [
        Fill::uniform(dtype, size),
        Fill::new("normal", dtype, size, GB_FILL_NORMAL, 10.0, 2.0, 0),
        integers("integers in 0..100", 100),
        integers("integers in 0..64", 64),
        integers("integers in 0..1000", 1000),
        integers("integers in 0..1000003", 1_000_003),
        integers("integers in 0..2^40", 1 << 40),
        integers("all integers", 0),
        Fill::bits(dtype, size),
    ]
}
