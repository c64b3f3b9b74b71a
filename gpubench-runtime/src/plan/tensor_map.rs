//! Tensor maps: how the tensor memory accelerator sees a tensor, in the words of
//! `cuTensorMapEncodeTiled`.

use crate::error::{Error, Result};

/// Everything about a tensor map but the address. Dimensions are innermost first, as in CUDA.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorMapDescription {
    /// How the elements are read.
    pub element: TensorMapElement,
    /// Elements along each of one to five dimensions.
    pub dims: Vec<u64>,
    /// Bytes from one element to the next along each dimension but the first.
    pub strides: Vec<u64>,
    /// Elements of a box along each dimension.
    pub box_dims: Vec<u32>,
    /// Steps between the elements of a box along each dimension.
    pub element_strides: Vec<u32>,
    /// How the inner dimensions are interleaved.
    pub interleave: Interleave,
    /// How a box is arranged in shared memory.
    pub swizzle: Swizzle,
    /// How much the L2 cache fetches at once.
    pub l2_promotion: L2Promotion,
    /// What a box holds beyond the tensor.
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

/// How the inner dimensions of a tensor map are interleaved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interleave {
    /// They are not.
    #[default]
    None,
    /// In pieces of 16 bytes.
    Bytes16,
    /// In pieces of 32 bytes.
    Bytes32,
}

/// How a box of a tensor map is arranged in shared memory, against bank conflicts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Swizzle {
    /// In order.
    #[default]
    None,
    /// Within spans of 32 bytes.
    Bytes32,
    /// Within spans of 64 bytes.
    Bytes64,
    /// Within spans of 128 bytes.
    Bytes128,
}

/// How much the L2 cache fetches at once for a tensor map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum L2Promotion {
    /// What is asked for.
    #[default]
    None,
    /// 64 bytes.
    Bytes64,
    /// 128 bytes.
    Bytes128,
    /// 256 bytes.
    Bytes256,
}

/// What a box of a tensor map holds beyond the tensor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutOfBoundsFill {
    /// Zeros.
    #[default]
    Zeros,
    /// A NaN that counts as zero in multiply-add.
    NanRequestZeroFma,
}

impl TensorMapElement {
    /// Bytes of an element.
    pub const fn size(self) -> u64 {
        use TensorMapElement::*;
        match self {
            U8 => 1,
            U16 | F16 | BF16 => 2,
            U32 | I32 | F32 | F32Ftz | Tf32 | Tf32Ftz => 4,
            U64 | I64 | F64 => 8,
        }
    }

    /// Whether elements are floating-point numbers.
    pub const fn is_float(self) -> bool {
        use TensorMapElement::*;
        matches!(self, F16 | BF16 | F32 | F64 | F32Ftz | Tf32 | Tf32Ftz)
    }
}

impl Swizzle {
    /// Bytes of a span, where there are spans.
    pub const fn span(self) -> Option<u64> {
        match self {
            Swizzle::None => None,
            Swizzle::Bytes32 => Some(32),
            Swizzle::Bytes64 => Some(64),
            Swizzle::Bytes128 => Some(128),
        }
    }
}

/// Fails with a rule's words where it does not hold.
fn rule(holds: bool, broken: impl FnOnce() -> String) -> Result<()> {
    if holds { Ok(()) } else { Err(Error::new(broken())) }
}

impl TensorMapDescription {
    /// Bytes from its first element to behind its last; nothing when that is more than there are
    /// addresses.
    pub fn extent(&self) -> Option<u64> {
        let (first, others) = self.dims.split_first()?;
        let row = first.checked_mul(self.element.size())?;
        others.iter().zip(&self.strides).try_fold(row, |extent, (dim, stride)| {
            extent.checked_add(dim.checked_sub(1)?.checked_mul(*stride)?)
        })
    }

    /// Checks it against the rules of `cuTensorMapEncodeTiled`, for memory that begins `offset`
    /// bytes into a buffer of `bytes`. Buffers themselves are aligned for every map.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn check(&self, offset: u64, bytes: u64) -> Result<()> {
        self.check_rank()?;
        let wide = if self.interleave == Interleave::Bytes32 { 32 } else { 16 };
        rule(offset.is_multiple_of(wide), || {
            format!("it begins {offset} bytes into its buffer, and that must be a multiple of {wide}")
        })?;
        for (axis, dim) in self.dims.iter().enumerate() {
            rule((1..=1 << 32).contains(dim), || {
                format!("dimension {axis} has {dim} elements; 1 to 2^32 are possible")
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
            format!("its last element lies behind the end of the buffer, which has {bytes} bytes")
        })?;
        rule(self.fill == OutOfBoundsFill::Zeros || self.element.is_float(), || {
            "filling with NaN is for floating-point elements".to_owned()
        })
    }

    fn check_rank(&self) -> Result<()> {
        let rank = self.dims.len();
        let fewest = if self.interleave == Interleave::None { 1 } else { 3 };
        rule((fewest..=5).contains(&rank), || {
            format!("it has {rank} dimensions; {fewest} to 5 are possible")
        })?;
        let given = [
            ("strides", self.strides.len(), rank - 1),
            ("box dimensions", self.box_dims.len(), rank),
            ("element strides", self.element_strides.len(), rank),
        ];
        given.into_iter().try_for_each(|(what, given, needed)| {
            rule(given == needed, || {
                format!("it has {given} {what}, and {needed} go with {rank} dimensions")
            })
        })
    }

    fn check_box(&self) -> Result<()> {
        for (axis, (extent, step)) in self.box_dims.iter().zip(&self.element_strides).enumerate() {
            rule((1..=256).contains(extent), || {
                format!("the box has {extent} elements along dimension {axis}; 1 to 256 are possible")
            })?;
            rule((1..=8).contains(step), || {
                format!("the element stride of dimension {axis} is {step}; 1 to 8 are possible")
            })?;
        }
        let inner = u64::from(self.box_dims[0]) * self.element.size();
        match (self.interleave, self.swizzle.span()) {
            (Interleave::Bytes32, _) => rule(self.swizzle == Swizzle::Bytes32, || {
                "interleaving by 32 bytes goes with swizzling by 32 bytes".to_owned()
            }),
            (Interleave::Bytes16, _) => Ok(()),
            (Interleave::None, span) => {
                rule(inner.is_multiple_of(16), || {
                    format!("the box has {inner} bytes along dimension 0; they must be a multiple of 16")
                })?;
                rule(span.is_none_or(|span| inner <= span), || {
                    let span = span.unwrap_or_default();
                    format!("the box has {inner} bytes along dimension 0, more than the {span} that it is swizzled by")
                })
            }
        }
    }
}
