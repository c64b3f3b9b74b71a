//! The validation rules of tensors of structs.

use std::collections::HashSet;

use super::rules::{broken, check_tolerance};
use crate::catalog::{DType, Field, Fill, Record, Reference, Tensor, Tolerance};
use crate::error::{Error, Result};

/// Most fields of a struct.
const MAX_FIELDS: usize = 64;

/// Most bytes of a struct. The driver copies fields by rows, whose pitch has 31 bits.
const MAX_BYTES: u64 = 1 << 20;

/// Checks the structs of a tensor whose shape has been checked.
pub(super) fn check_record(record: &Record, tensor: &Tensor) -> Result<()> {
    let Record { name, fields } = record;
    let Some(size @ 1..=MAX_BYTES) = tensor.shape.last().copied() else {
        return broken(format!("a struct `{name}` does not have 1 to {MAX_BYTES} bytes"));
    };
    if tensor.dtype != DType::U8 || tensor.tolerance != Tolerance::Exact {
        return broken(format!("structs `{name}` are not described as bytes"));
    }
    if fields.is_empty() || fields.len() > MAX_FIELDS {
        return broken(format!(
            "a struct has 1 to {MAX_FIELDS} fields, and `{name}` has {}",
            fields.len()
        ));
    }
    match tensor.fill {
        Fill::Poison | Fill::Cpu | Fill::Kernel(_) => {}
        Fill::Uniform { .. } | Fill::Normal { .. } | Fill::Integers { .. } | Fill::Bits | Fill::Stored => {
            return broken(format!(
                "a distribution or a file cannot fill structs such as `{name}` (hint: fill them with `ByCpu` or `ByKernel`)"
            ));
        }
    }
    let mut names = HashSet::new();
    let mut end = 0;
    for field in fields {
        end = check_field(field, end, size).map_err(|error| error.context(format!("field `{}`", field.name)))?;
        if !names.insert(&field.name) {
            return broken(format!("two fields are named `{}`", field.name));
        }
    }
    Ok(())
}

/// Checks a field that must not begin before `start`. Returns its end.
fn check_field(field: &Field, start: u64, size: u64) -> Result<u64> {
    let bytes = match field.count {
        Some(0) => return Err(Error::new("it is an array without elements")),
        count => count.unwrap_or(1).checked_mul(field.dtype.size() as u64),
    };
    let end = bytes.and_then(|bytes| field.offset.checked_add(bytes));
    let Some(end) = end.filter(|end| *end <= size) else {
        return Err(Error::new(format!("it ends after the {size} bytes of its struct")));
    };
    if field.offset < start {
        return Err(Error::new("it overlaps the field before it"));
    }
    if field.tolerance == Tolerance::ByCheck {
        return Err(Error::new("no check judges a field"));
    }
    check_tolerance(field.tolerance).map(|()| end)
}

/// Returns the error for outputs of structs that a check would judge.
pub(crate) fn no_check_of_structs(name: &str) -> Error {
    Error::new(format!(
        "`check = ..` cannot judge structs such as `{name}` (hint: remove the check, and write `#[tolerance(..)]` before \
         the fields; or make each field an output of its own)"
    ))
}

/// Checks that the source of expected outputs knows structs.
pub(super) fn check_reference_of_structs(reference: &Reference, tensors: &[Tensor]) -> Result<()> {
    let held = |is_meant: fn(&Tensor) -> bool| {
        let of_structs = tensors.iter().filter(|tensor| is_meant(tensor));
        of_structs.filter_map(|tensor| tensor.record.as_ref()).next()
    };
    match reference {
        Reference::Author | Reference::Plan(_) => Ok(()),
        Reference::Checked => match held(|tensor| tensor.role.is_output()) {
            None => Ok(()),
            Some(record) => Err(no_check_of_structs(&record.name)),
        },
        Reference::Provider(_) => match held(|tensor| tensor.role.is_input() || tensor.role.is_output()) {
            None => Ok(()),
            Some(record) => broken(format!(
                "a reference command cannot read or write structs such as `{}` (hint: write the reference as a function in \
                 Rust, or make each field a tensor of its own)",
                record.name
            )),
        },
    }
}

#[cfg(test)]
mod tests;
