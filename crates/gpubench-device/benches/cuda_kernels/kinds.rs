//! The kinds of fills.

use std::fmt;

use gpubench_device::DevicePtr;
use gpubench_harness::arguments::FillArguments;
use gpubench_harness::bindings::*;

/// Element types and their sizes in bytes.
pub(crate) const DTYPES: [(u32, u64); 14] = [
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
    (GB_F8E4M3, 1),
    (GB_F8E5M2, 1),
];

const NAMES: [&str; 14] = [
    "u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "f16", "bf16", "f32", "f64", "f8e4m3", "f8e5m2",
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

    /// Returns whether a case can have this fill: real numbers of floating-point types, integers
    /// that the type represents exactly, and any bits of an integer.
    pub(crate) fn can_be_asked_for(&self) -> bool {
        let FillArguments { dtype, kind, span, .. } = self.arguments;
        let floating = dtype >= GB_F16;
        match kind {
            GB_FILL_UNIFORM | GB_FILL_NORMAL => floating,
            GB_FILL_INTEGERS if span == 0 => !floating,
            GB_FILL_INTEGERS => u128::from(span) <= exact_integers(dtype, self.size).1,
            _ => !floating,
        }
    }

    /// Returns the same kind with slightly larger numbers, by up to this fraction of themselves.
    pub(crate) fn widened(mut self, by: f64) -> Fill {
        self.arguments.b *= 1.0 + by;
        self
    }

    pub(crate) fn arguments(&self, out: DevicePtr, len: u64) -> FillArguments {
        // Complex numbers are filled as their parts.
        let (dtype, parts) = match self.arguments.dtype {
            GB_COMPLEX32 => (GB_F32, 2),
            dtype => (dtype, 1),
        };
        FillArguments {
            out: out.0,
            len: len * parts,
            dtype,
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

/// Returns the lowest of the consecutive integers that a type represents exactly, and their number:
/// all values of its bits, or those up to two to the power of its significant bits, of both signs.
fn exact_integers(dtype: u32, size: u64) -> (i64, u128) {
    let signed = |bits: u32| (-1_i64 << bits, (1_u128 << (bits + 1)) + 1);
    match dtype {
        GB_F8E4M3 => signed(4),
        GB_F8E5M2 => signed(3),
        GB_F16 => signed(11),
        GB_BF16 => signed(8),
        GB_F32 => signed(24),
        GB_F64 => signed(53),
        GB_I8 | GB_I16 | GB_I32 | GB_I64 => (-1 << (8 * size - 1), 1 << (8 * size)),
        _ => (0, 1 << (8 * size)),
    }
}

/// Returns every kind of fill of every type, first those that a case can have.
pub(crate) fn fills() -> Vec<Fill> {
    let mut fills: Vec<Fill> = DTYPES.iter().flat_map(|&(dtype, size)| of_type(dtype, size)).collect();
    fills.sort_by_key(|fill| !fill.can_be_asked_for());
    fills
}

fn of_type(dtype: u32, size: u64) -> [Fill; 10] {
    let integers = |what, span| Fill::new(what, dtype, size, GB_FILL_INTEGERS, 0.0, 0.0, span);
    // One fewer than there are, or all if that is not a power of two.
    let (lowest, most) = exact_integers(dtype, size);
    let span = if most.is_power_of_two() { most - 1 } else { most };
    let mut nearly_all = integers("nearly all integers", u64::try_from(span).unwrap_or(u64::MAX));
    nearly_all.arguments.low = lowest;
    [
        Fill::uniform(dtype, size),
        Fill::new("normal", dtype, size, GB_FILL_NORMAL, 10.0, 2.0, 0),
        integers("integers in 0..100", 100),
        integers("integers in 0..64", 64),
        integers("integers in 0..1000", 1000),
        integers("integers in 0..1000003", 1_000_003),
        integers("integers in 0..2^40", 1 << 40),
        nearly_all,
        integers("all integers", 0),
        Fill::bits(dtype, size),
    ]
}
