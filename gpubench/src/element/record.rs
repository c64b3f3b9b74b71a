//! Structs as elements, for `#[derive(Element)]`.

use super::Elements;
use crate::abi::structs;
use crate::catalog::{DType, Field, Record, Tolerance};

/// A struct that is an element. Its derive makes one.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct RecordType {
    /// Name.
    pub name: &'static str,
    /// Size in bytes, with padding.
    pub size: usize,
    /// Returns its fields. Their tolerances may be computed.
    pub fields: fn() -> Vec<StructField>,
}

/// A field of a struct that is an element.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StructField {
    /// Name.
    pub name: &'static str,
    /// Offset in bytes.
    pub offset: usize,
    /// Type of its numbers.
    pub dtype: DType,
    /// Numbers of an array.
    pub count: Option<usize>,
    /// The comparison that its attribute states.
    pub tolerance: Option<Tolerance>,
}

/// The type of a field: a number, or an array of numbers. Every bit pattern is valid.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a field of an element",
    label = "not a number or an array of numbers",
    note = "fields are u8, i8, u16, i16, u32, i32, u64, i64, F16, BF16, F8E4M3, F8E5M2, f32, f64, Complex32 and arrays of these, such as `[f32; 3]`"
)]
#[doc(hidden)]
pub trait FieldType {
    /// Type of its numbers.
    const DTYPE: DType;
    /// Numbers of an array.
    const COUNT: Option<usize> = None;
}

impl<T: ArrayItem, const N: usize> FieldType for [T; N] {
    const DTYPE: DType = T::DTYPE;
    const COUNT: Option<usize> = Some(N);
}

/// A number in an array. Arrays of arrays are not fields.
#[doc(hidden)]
pub trait ArrayItem: super::Number {}

impl<T: super::Number> ArrayItem for T {}

/// Returns the description of a field of type `T`.
#[doc(hidden)]
#[must_use]
pub fn field<T: FieldType>(name: &'static str, offset: usize, tolerance: Option<Tolerance>) -> StructField {
    StructField {
        name,
        offset,
        dtype: T::DTYPE,
        count: T::COUNT,
        tolerance,
    }
}

/// Returns memory as structs of type `T`, if it holds those.
#[doc(hidden)]
#[must_use]
pub fn struct_elements<T: super::Element>(elements: Elements<'_>) -> Option<&mut [T]> {
    let (Elements::Structs(bytes, record), Some(own)) = (elements, T::RECORD) else {
        return None;
    };
    if own.is(record) { structs(bytes) } else { None }
}

impl RecordType {
    /// Returns it for the catalog. `tolerance` judges a field by its type and what it states.
    pub(crate) fn describe(self, tolerance: impl Fn(DType, Option<Tolerance>) -> Tolerance) -> Record {
        let described = |field: StructField| Field {
            name: field.name.to_owned(),
            offset: field.offset as u64,
            dtype: field.dtype,
            count: field.count.map(|count| count as u64),
            tolerance: tolerance(field.dtype, field.tolerance),
        };
        Record {
            name: self.name.to_owned(),
            fields: (self.fields)().into_iter().map(described).collect(),
        }
    }

    /// Whether a tensor's structs are of this type, as far as the catalog says.
    pub(crate) fn is(self, record: &Record) -> bool {
        let own = (self.fields)();
        let is_field = |(own, field): (&StructField, &Field)| {
            let own = (
                own.name,
                own.offset as u64,
                own.dtype,
                own.count.map(|count| count as u64),
            );
            own == (field.name.as_str(), field.offset, field.dtype, field.count)
        };
        self.name == record.name && own.len() == record.fields.len() && own.iter().zip(&record.fields).all(is_field)
    }
}
