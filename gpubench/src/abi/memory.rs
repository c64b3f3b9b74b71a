//! The tool's memory as slices.

use super::table::Buffer;
use crate::catalog::{DType, Role, Tensor};
use crate::element::{BF16, Complex32, Element, Elements, F8E4M3, F8E5M2, F16};
use crate::error::{Error, Result};
use crate::tensors::{CheckData, CheckedTensor, CpuData, CpuTensor, Ignored};

/// Returns the memory of the tensors that `concerned` selects. The others may have none.
///
/// # Errors
/// Returns an error if the number of buffers is not the number of tensors, or if a buffer has the
/// wrong size or alignment.
///
/// # Safety
/// `count` buffers must be readable at `buffers`. Each buffer with an address must have `len`
/// initialised bytes there, readable and writable. While the result lives, nobody else may use them
/// and no two buffers may share them.
pub(super) unsafe fn cpu_data<'a>(
    tensors: &'a [Tensor],
    concerned: fn(&Tensor) -> bool,
    buffers: *const Buffer,
    count: usize,
) -> Result<CpuData<'a>> {
    if count != tensors.len() {
        return Err(Error::new(format!("{count} buffers for {} tensors", tensors.len())));
    }
    let mut lent = Vec::new();
    for (position, tensor) in tensors.iter().enumerate().filter(|(_, tensor)| concerned(tensor)) {
        // SAFETY: `position` is below `count`, the number of readable buffers.
        let buffer = unsafe { *buffers.add(position) };
        // SAFETY: the caller lends the buffer's memory, as this function requires.
        let elements = unsafe { elements(tensor, buffer) };
        let elements = elements.map_err(|error| error.context(format!("memory of tensor `{}`", tensor.name)))?;
        lent.push(CpuTensor {
            name: &tensor.name,
            role: tensor.role,
            elements: Some(elements),
        });
    }
    Ok(CpuData::new(lent))
}

/// Returns the memory of the tensors for a check: three buffers for each tensor, as
/// [`Table::check`](super::Table::check) has them.
///
/// # Errors
/// As [`cpu_data`].
///
/// # Safety
/// As [`cpu_data`]. What was before and after the call need only be readable.
pub(super) unsafe fn check_data<'a>(
    tensors: &'a [Tensor],
    buffers: *const Buffer,
    count: usize,
) -> Result<CheckData<'a>> {
    if count != 3 * tensors.len() {
        return Err(Error::new(format!("{count} buffers for {} tensors", tensors.len())));
    }
    let mut lent = Vec::new();
    let is_operand = |(_, tensor): &(usize, &Tensor)| tensor.role != Role::Scratch;
    for (position, tensor) in tensors.iter().enumerate().filter(is_operand) {
        let memory = |part: usize| {
            // SAFETY: there are three readable buffers for each tensor. The caller lends their
            // memory, as this function requires.
            let elements = unsafe { elements(tensor, *buffers.add(3 * position + part)) };
            elements.map_err(|error| error.context(format!("memory of tensor `{}`", tensor.name)))
        };
        lent.push(CheckedTensor {
            name: &tensor.name,
            role: tensor.role,
            given: tensor.role.is_input().then(|| memory(0)).transpose()?,
            answer: match tensor.role.is_output() {
                true => Some((memory(1)?, memory(2)?)),
                false => None,
            },
            ignored: Ignored::default(),
        });
    }
    Ok(CheckData::new(lent))
}

/// Returns the device address of every tensor, in order.
///
/// # Errors
/// Returns an error if the number of buffers is not the number of tensors, or if a buffer has the
/// wrong size.
///
/// # Safety
/// `count` buffers must be readable at `buffers`.
pub(super) unsafe fn addresses(tensors: &[Tensor], buffers: *const Buffer, count: usize) -> Result<Vec<*mut u8>> {
    if count != tensors.len() {
        return Err(Error::new(format!("{count} buffers for {} tensors", tensors.len())));
    }
    let address = |(position, tensor): (usize, &Tensor)| {
        // SAFETY: `position` is below `count`, the number of readable buffers.
        let buffer = unsafe { *buffers.add(position) };
        let bytes = tensor.elements() as usize * tensor.dtype.size();
        if buffer.data.is_null() || buffer.len != bytes {
            let got = if buffer.data.is_null() { 0 } else { buffer.len };
            let error = Error::new(format!("{got} bytes instead of {bytes}"));
            return Err(error.context(format!("memory of tensor `{}`", tensor.name)));
        }
        Ok(buffer.data)
    };
    tensors.iter().enumerate().map(address).collect()
}

/// Returns bytes as the structs that they hold. `None` if they are not whole structs, or not
/// aligned for them.
pub(crate) fn structs<T: Element>(bytes: &mut [u8]) -> Option<&mut [T]> {
    let size = size_of::<T>();
    if size == 0 || !bytes.len().is_multiple_of(size) || !bytes.as_ptr().addr().is_multiple_of(align_of::<T>()) {
        return None;
    }
    // SAFETY: the address is aligned, and the bytes are initialised and `len / size` structs. Only
    // `#[derive(Element)]` makes a struct an `Element`, of fields for which every bit pattern is
    // valid.
    Some(unsafe { std::slice::from_raw_parts_mut(bytes.as_mut_ptr().cast(), bytes.len() / size) })
}

/// # Safety
/// The buffer must meet the requirements of [`cpu_data`].
unsafe fn elements<'a>(tensor: &'a Tensor, buffer: Buffer) -> Result<Elements<'a>> {
    let count = tensor.elements();
    let count = count as usize;
    let bytes = count * tensor.dtype.size();
    if buffer.data.is_null() || buffer.len != bytes {
        let got = if buffer.data.is_null() { 0 } else { buffer.len };
        return Err(Error::new(format!("{got} bytes instead of {bytes}")));
    }
    if !buffer.data.addr().is_multiple_of(tensor.dtype.size()) {
        return Err(Error::new(format!(
            "the address is not a multiple of {}",
            tensor.dtype.size()
        )));
    }
    if let Some(record) = &tensor.record {
        // SAFETY: the bytes are initialised, and nobody else uses them.
        let bytes = unsafe { std::slice::from_raw_parts_mut(buffer.data, bytes) };
        return Ok(Elements::Structs(bytes, record));
    }
    macro_rules! typed {
        ($($variant:ident $element:ty),*) => {
            match tensor.dtype {
                // SAFETY: the address is aligned for the type, the bytes are `count` elements of
                // it, every bit pattern is valid, and nobody else uses them.
                $(DType::$variant => Elements::$variant(unsafe { std::slice::from_raw_parts_mut(buffer.data.cast::<$element>(), count) }),)*
            }
        };
    }
    Ok(typed!(
        U8 u8, I8 i8, U16 u16, I16 i16, U32 u32, I32 i32, U64 u64, I64 i64, F16 F16, BF16 BF16, F32 f32, F64 f64,
        F8E4M3 F8E4M3, F8E5M2 F8E5M2, Complex32 Complex32
    ))
}
