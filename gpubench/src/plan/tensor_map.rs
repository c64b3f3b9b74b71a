//! Tensor maps, which describe a tensor to the tensor memory accelerator (TMA). Names follow
//! `cuTensorMapEncodeTiled`.

use crate::error::{Error, Result};

/// A tensor map without its address. Dimensions are innermost first, as in CUDA.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorMapDescription {
    /// Element type.
    pub element: TensorMapElement,
    /// Elements per dimension, for one to five dimensions.
    pub dims: Vec<u64>,
    /// Strides in bytes, for all dimensions except the first.
    pub strides: Vec<u64>,
    /// Elements of a box per dimension.
    pub box_dims: Vec<u32>,
    /// Steps between the elements of a box per dimension.
    pub element_strides: Vec<u32>,
    /// Interleaving of the inner dimensions.
    pub interleave: Interleave,
    /// Arrangement of a box in shared memory.
    pub swizzle: Swizzle,
    /// Granularity of fetches into the L2 cache.
    pub l2_promotion: L2Promotion,
    /// Fill value for elements out of bounds.
    pub fill: OutOfBoundsFill,
}

/// Element types of tensor maps, in the order of `CUtensorMapDataType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum TensorMapElement {
    U8,
    U16,
    U32,
    I32,
    U64,
    I64,
    F16,
    F32,
    F64,
    BF16,
    /// `f32` with denormals flushed to zero.
    F32Ftz,
    /// `f32` rounded to TF32.
    Tf32,
    /// `f32` rounded to TF32, denormals flushed to zero.
    Tf32Ftz,
}

/// The interleaving of a tensor map's inner dimensions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interleave {
    /// None.
    #[default]
    None,
    /// 16-byte chunks.
    Bytes16,
    /// 32-byte chunks.
    Bytes32,
}

/// The arrangement of a tensor map's box in shared memory, to avoid bank conflicts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Swizzle {
    /// None.
    #[default]
    None,
    /// Within 32-byte spans.
    Bytes32,
    /// Within 64-byte spans.
    Bytes64,
    /// Within 128-byte spans.
    Bytes128,
}

/// The granularity of a tensor map's fetches into the L2 cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum L2Promotion {
    /// Only the requested bytes.
    #[default]
    None,
    /// 64 bytes.
    Bytes64,
    /// 128 bytes.
    Bytes128,
    /// 256 bytes.
    Bytes256,
}

/// The fill value for elements of a box that are out of bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutOfBoundsFill {
    /// Zeros.
    #[default]
    Zeros,
    /// A NaN that a fused multiply-add treats as zero.
    NanRequestZeroFma,
}

impl TensorMapElement {
    /// Returns the bytes of an element.
    pub const fn size(self) -> u64 {
        use TensorMapElement::*;
        match self {
            U8 => 1,
            U16 | F16 | BF16 => 2,
            U32 | I32 | F32 | F32Ftz | Tf32 | Tf32Ftz => 4,
            U64 | I64 | F64 => 8,
        }
    }

    /// Returns whether elements are floating-point numbers.
    pub const fn is_float(self) -> bool {
        use TensorMapElement::*;
        matches!(self, F16 | BF16 | F32 | F64 | F32Ftz | Tf32 | Tf32Ftz)
    }
}

impl Swizzle {
    /// Returns the bytes of a span, if there are spans.
    pub const fn span(self) -> Option<u64> {
        match self {
            Swizzle::None => None,
            Swizzle::Bytes32 => Some(32),
            Swizzle::Bytes64 => Some(64),
            Swizzle::Bytes128 => Some(128),
        }
    }
}

/// Fails with `rule` unless `holds`.
fn rule(holds: bool, broken: impl FnOnce() -> String) -> Result<()> {
    if holds { Ok(()) } else { Err(Error::new(broken())) }
}

impl TensorMapDescription {
    /// Returns the bytes from the first element to the end of the last. `None` if the address space
    /// is too small.
    pub fn extent(&self) -> Option<u64> {
        let (first, others) = self.dims.split_first()?;
        let row = first.checked_mul(self.element.size())?;
        others.iter().zip(&self.strides).try_fold(row, |extent, (dim, stride)| {
            extent.checked_add(dim.checked_sub(1)?.checked_mul(*stride)?)
        })
    }

    /// Checks the rules of `cuTensorMapEncodeTiled` for memory that starts `offset` bytes into a
    /// buffer of `bytes`. Buffers are always sufficiently aligned.
    ///
    /// # Errors
    /// Returns the first violation.
    pub fn check(&self, offset: u64, bytes: u64) -> Result<()> {
        self.check_rank()?;
        let wide = if self.interleave == Interleave::Bytes32 { 32 } else { 16 };
        rule(offset.is_multiple_of(wide), || {
            format!("it starts {offset} bytes into its buffer; the offset must be a multiple of {wide}")
        })?;
        for (axis, dim) in self.dims.iter().enumerate() {
            rule((1..=1 << 32).contains(dim), || {
                format!("dimension {axis} has {dim} elements; 1 to 2^32 are allowed")
            })?;
        }
        for (axis, stride) in (1..).zip(&self.strides) {
            rule(stride.is_multiple_of(wide) && (1..1 << 40).contains(stride), || {
                format!("the stride of dimension {axis} is {stride} bytes; it must be a multiple of {wide} below 2^40")
            })?;
        }
        self.check_box()?;
        let extent = self.extent().and_then(|extent| extent.checked_add(offset));
        rule(extent.is_some_and(|end| end <= bytes), || {
            format!("it extends past the end of the buffer, which has {bytes} bytes")
        })?;
        rule(self.fill == OutOfBoundsFill::Zeros || self.element.is_float(), || {
            "only floating-point elements can be filled with NaN".to_owned()
        })
    }

    fn check_rank(&self) -> Result<()> {
        let rank = self.dims.len();
        let fewest = if self.interleave == Interleave::None { 1 } else { 3 };
        rule((fewest..=5).contains(&rank), || {
            format!("it has {rank} dimensions; {fewest} to 5 are allowed")
        })?;
        let given = [
            ("strides", self.strides.len(), rank - 1),
            ("box dimensions", self.box_dims.len(), rank),
            ("element strides", self.element_strides.len(), rank),
        ];
        given.into_iter().try_for_each(|(what, given, needed)| {
            rule(given == needed, || {
                format!("it has {given} {what}; {rank} dimensions need {needed}")
            })
        })
    }

    fn check_box(&self) -> Result<()> {
        for (axis, (extent, step)) in self.box_dims.iter().zip(&self.element_strides).enumerate() {
            rule((1..=256).contains(extent), || {
                format!("the box has {extent} elements along dimension {axis}; 1 to 256 are allowed")
            })?;
            rule((1..=8).contains(step), || {
                format!("the element stride of dimension {axis} is {step}; 1 to 8 are allowed")
            })?;
        }
        let inner = u64::from(self.box_dims[0]) * self.element.size();
        match (self.interleave, self.swizzle.span()) {
            (Interleave::Bytes32, _) => rule(self.swizzle == Swizzle::Bytes32, || {
                "interleaving by 32 bytes needs swizzling by 32 bytes".to_owned()
            }),
            (Interleave::Bytes16, _) => Ok(()),
            (Interleave::None, span) => {
                rule(inner.is_multiple_of(16), || {
                    format!("the box has {inner} bytes along dimension 0; they must be a multiple of 16")
                })?;
                rule(span.is_none_or(|span| inner <= span), || {
                    let span = span.unwrap_or_default();
                    format!("the box has {inner} bytes along dimension 0, more than the swizzle span of {span}")
                })
            }
        }
    }
}
