//! Tensors whose elements are structs.

use super::{DType, Tensor, Tolerance};
use std::borrow::Cow;

/// The struct that each element of a tensor is.
///
/// Such a tensor is one of bytes: its element type is `U8`, and its last extent is the size of a
/// struct in bytes, with its padding. Each field of an output is compared on its own, and padding
/// never is.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Name of the Rust type.
    pub name: String,
    /// Fields, in the order of their offsets.
    pub fields: Vec<Field>,
}

/// A field of a [`Record`].
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Name.
    pub name: String,
    /// Offset in the struct, in bytes.
    pub offset: u64,
    /// Type of its numbers.
    pub dtype: DType,
    /// Numbers of an array. `None` if the field is a single number.
    pub count: Option<u64>,
    /// How an output's numbers are compared. [`Tolerance::Exact`] for tensors that are not outputs.
    pub tolerance: Tolerance,
}

impl Field {
    /// Returns the bytes of the field. Call it only after [`plan::check`](crate::plan::check).
    pub fn bytes(&self) -> u64 {
        self.count.unwrap_or(1) * self.dtype.size() as u64
    }
}

/// Where the numbers of a [`part`](Tensor::part) lie in its tensor: rows of `bytes` bytes, one in
/// each struct. They are contiguous in the part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows {
    /// Offset of the first row in the tensor, in bytes.
    pub start: u64,
    /// Bytes of a row.
    pub bytes: u64,
    /// Bytes from the start of a row to the start of the next.
    pub pitch: u64,
    /// Number of rows.
    pub count: u64,
}

impl Tensor {
    /// Returns the number of parts that are compared on their own: the fields of a tensor of
    /// structs, otherwise one.
    pub fn parts(&self) -> usize {
        self.record.as_ref().map_or(1, |record| record.fields.len())
    }

    /// Returns a part, as a tensor of its numbers. A field `value` of `hits` is `hits[].value`, and
    /// a field `position` that is an array is `hits[].position[]`, with one more dimension. `None`
    /// if there is no such part.
    pub fn part(&self, number: usize) -> Option<Cow<'_, Tensor>> {
        let Some(record) = &self.record else {
            return (number == 0).then_some(Cow::Borrowed(self));
        };
        let field = record.fields.get(number)?;
        let suffix = if field.count.is_some() { "[]" } else { "" };
        let (_, structs) = self.shape.split_last()?;
        Some(Cow::Owned(Tensor {
            name: format!("{}[].{}{suffix}", self.name, field.name),
            dtype: field.dtype,
            shape: structs.iter().copied().chain(field.count).collect(),
            role: self.role,
            fill: self.fill.clone(),
            tolerance: field.tolerance,
            record: None,
        }))
    }

    /// Returns where a field lies. `None` if the tensor does not hold structs. Call it only after
    /// [`plan::check`](crate::plan::check).
    pub fn rows(&self, field: usize) -> Option<Rows> {
        let field = self.record.as_ref()?.fields.get(field)?;
        Some(Rows {
            start: field.offset,
            bytes: field.bytes(),
            pitch: self.item_bytes(),
            count: self.items(),
        })
    }

    /// Returns the number of elements as code that uses the tensor counts them: structs, if it
    /// holds those. Call it only after [`plan::check`](crate::plan::check).
    pub fn items(&self) -> u64 {
        match (&self.record, self.shape.split_last()) {
            (Some(_), Some((_, structs))) => structs.iter().product(),
            _ => self.elements(),
        }
    }

    /// Returns the bytes of one of the [`items`](Tensor::items).
    pub fn item_bytes(&self) -> u64 {
        match (&self.record, self.shape.last()) {
            (Some(_), Some(bytes)) => *bytes,
            _ => self.dtype.size() as u64,
        }
    }

    /// Returns the name of the element type: of the struct, or of the number.
    pub fn item_type(&self) -> &str {
        match &self.record {
            Some(record) => &record.name,
            None => self.dtype.name(),
        }
    }
}

/// Returns each tensor, or the fields of one that holds structs, as [`Tensor::part`] does.
pub fn by_field(tensors: &[Tensor]) -> Vec<Tensor> {
    let parts = tensors
        .iter()
        .flat_map(|tensor| (0..tensor.parts()).filter_map(|part| tensor.part(part)));
    parts.map(Cow::into_owned).collect()
}
