//! The shape of a tensor: element type and extents.

use super::RecordType;
use crate::catalog::DType;
use crate::error::{Error, Result};

/// An element type with extents, outermost first. [`Element::shape`](crate::Element::shape) returns
/// it.
#[derive(Clone, Debug)]
pub struct Shape {
    dtype: DType,
    extents: Vec<u64>,
    record: Option<RecordType>,
}

impl Shape {
    pub(crate) fn new(dtype: DType, extents: Vec<u64>) -> Shape {
        Shape {
            dtype,
            extents,
            record: None,
        }
    }

    /// Returns the shape of structs: of their bytes, with one more dimension.
    pub(crate) fn of_structs(record: RecordType, mut extents: Vec<u64>) -> Shape {
        extents.push(record.size as u64);
        Shape {
            dtype: DType::U8,
            extents,
            record: Some(record),
        }
    }

    /// Returns the struct that each element is, unless elements are numbers.
    pub(crate) fn record(&self) -> Option<RecordType> {
        self.record
    }

    /// Returns the element type. Structs are `U8`.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Returns the extents, outermost first. For structs, the bytes of one follow.
    pub fn extents(&self) -> &[u64] {
        &self.extents
    }

    /// Returns the number of elements, if the bytes fit the address space.
    pub(crate) fn elements(&self) -> Result<u64> {
        elements(&self.extents, self.dtype)
    }
}

/// Returns the number of elements of a shape, if the bytes fit the address space. Those of an empty
/// shape must fit without its zeros, so that no product of extents overflows.
pub(crate) fn elements(extents: &[u64], dtype: DType) -> Result<u64> {
    let elements = extents
        .iter()
        .try_fold(1u64, |product, extent| product.checked_mul((*extent).max(1)))
        .filter(|count| {
            count
                .checked_mul(dtype.size() as u64)
                .is_some_and(|bytes| bytes <= isize::MAX as u64)
        });
    match elements {
        Some(_) if extents.contains(&0) => Ok(0),
        Some(elements) => Ok(elements),
        None => Err(match wrapped(extents) {
            Some(extent) => Error::new(format!(
                "the extent {extent} of a shape is negative (hint: an axis or a difference below zero was converted to `usize`)"
            )),
            None => Error::new(format!("the shape {extents:?} has more bytes than memory can hold")),
        }),
    }
}

/// Returns the extent that was negative before its conversion to `usize`, if there is one. A real
/// extent is far below the numbers to which negative ones wrap.
fn wrapped(extents: &[u64]) -> Option<i64> {
    let signed = extents.iter().map(|extent| extent.cast_signed());
    signed.filter(|extent| (-(1 << 32)..0).contains(extent)).min()
}

/// The extents of a tensor, outermost first: a number, or an array, slice or vector of numbers.
#[diagnostic::on_unimplemented(message = "`{Self}` is not a shape: write `[rows, cols]` with `usize` extents")]
pub trait Extents {
    #[doc(hidden)]
    fn extents(self) -> Vec<u64>;
}

impl Extents for usize {
    fn extents(self) -> Vec<u64> {
        vec![self as u64]
    }
}

impl<const N: usize> Extents for [usize; N] {
    fn extents(self) -> Vec<u64> {
        self.iter().map(|&extent| extent as u64).collect()
    }
}

impl Extents for &[usize] {
    fn extents(self) -> Vec<u64> {
        self.iter().map(|&extent| extent as u64).collect()
    }
}

impl Extents for Vec<usize> {
    fn extents(self) -> Vec<u64> {
        self.as_slice().extents()
    }
}
