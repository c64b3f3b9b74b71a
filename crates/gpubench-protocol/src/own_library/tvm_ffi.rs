//! Calls a function with the C interface of TVM-FFI, on tensors of DLPack. The layouts are those of
//! `tvm/ffi/c_api.h` and `dlpack.h`, which are stable.

#![allow(unsafe_code)]

use std::ffi::c_void;
use std::ptr::null_mut;

use gpubench::catalog::{DType, DeviceKind};

use super::library::{CallPlace, Operand, OwnLibrary, Passed, refused};
use super::registers::extended;
use crate::cdylib::AuthorError;
use crate::wire::AuthorFailure;

/// What the names of exported functions begin with.
pub(super) const TVM_PREFIX: &str = "__tvm_ffi_";

/// `TVMFFISafeCallType`: returns 0, or another number after it has stored an error in its thread.
pub(super) type PackedFunction =
    unsafe extern "C-unwind" fn(handle: *mut c_void, arguments: *const Any, count: i32, result: *mut Any) -> i32;

type SetStream =
    unsafe extern "C-unwind" fn(device: i32, ordinal: i32, stream: *mut c_void, before: *mut *mut c_void) -> i32;

type TakeError = unsafe extern "C-unwind" fn(error: *mut *mut ErrorObject);

/// `TVMFFIAny`: a value and its type.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Any {
    type_index: i32,
    zero: u32,
    /// An `int64_t`, a `double` or a pointer.
    value: u64,
}

impl Any {
    const NONE: Any = Any::new(0, 0);

    const fn new(type_index: i32, value: u64) -> Any {
        Any {
            type_index,
            zero: 0,
            value,
        }
    }
}

/// `DLTensor`.
#[repr(C)]
struct DlTensor {
    data: *mut c_void,
    device_type: i32,
    device_id: i32,
    dimensions: i32,
    code: u8,
    bits: u8,
    lanes: u16,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

/// A tensor with the memory that it refers to.
struct Tensor {
    header: DlTensor,
    _extents: Box<[i64]>,
}

/// The header of an error object, and the text in it.
#[repr(C)]
struct ErrorObject {
    references: u64,
    type_index: i32,
    padding: u32,
    deleter: *mut c_void,
    kind: ByteArray,
    message: ByteArray,
}

#[repr(C)]
struct ByteArray {
    data: *const u8,
    size: usize,
}

/// Where functions of TVM-FFI learn the stream.
#[derive(Clone, Copy)]
pub(super) struct TvmStream {
    set: Option<SetStream>,
}

impl TvmStream {
    /// Finds it in the TVM-FFI library that the library needs.
    ///
    /// # Errors
    /// If a stream must be passed, and the library cannot know it.
    pub(super) fn find(library: &OwnLibrary, place: CallPlace) -> Result<TvmStream, AuthorError> {
        let set = library.symbol::<SetStream>("TVMFFIEnvSetStream");
        match (set, place.stream, place.kind) {
            (None, Some(_), DeviceKind::Cuda) => Err(refused(
                "the library does not link `libtvm_ffi`, which would tell it the stream (hint: link it, or write `hosted(sync, library = ..)`)",
            )),
            _ => Ok(TvmStream { set }),
        }
    }
}

/// A call of a function of TVM-FFI.
pub(crate) struct PackedCall {
    function: PackedFunction,
    arguments: Vec<Any>,
    take_error: Option<TakeError>,
    stream: TvmStream,
    place: CallPlace,
    /// What the arguments point to.
    _tensors: Vec<Tensor>,
}

impl PackedCall {
    /// Makes the tensors of a call.
    pub(super) fn new(
        library: &OwnLibrary,
        function: PackedFunction,
        stream: TvmStream,
        passed: &[Passed<'_>],
        place: CallPlace,
    ) -> PackedCall {
        let buffers = passed.iter().filter_map(|argument| match argument {
            Passed::Buffer(operand) => Some(Tensor::from_operand(operand, place)),
            Passed::Number(..) | Passed::Null => None,
        });
        // Not changed any more, so that the tensors stay where they are.
        let mut tensors: Vec<Tensor> = buffers.collect();
        let mut headers = tensors.iter_mut().map(|tensor| &raw mut tensor.header);
        let arguments = passed.iter().map(|argument| match argument {
            Passed::Buffer(_) => headers.next().map_or(Any::NONE, |header| Any::new(7, header as u64)),
            Passed::Number(DType::F32, bits) => Any::new(3, f64::from(f32::from_bits(*bits as u32)).to_bits()),
            Passed::Number(DType::F64, bits) => Any::new(3, *bits),
            Passed::Number(dtype, bits) => Any::new(1, extended(*dtype, *bits)),
            Passed::Null => Any::NONE,
        });
        let arguments = arguments.collect();
        PackedCall {
            function,
            arguments,
            take_error: library.symbol("TVMFFIErrorMoveFromRaised"),
            stream,
            place,
            _tensors: tensors,
        }
    }

    /// Makes the call.
    ///
    /// # Errors
    /// If the function reports one.
    ///
    /// # Safety
    /// The tensors' memory is mapped, and one thread calls at a time.
    pub(super) unsafe fn call(&self) -> Result<(), AuthorError> {
        let (kind, ordinal) = device(self.place);
        if let (Some(set), Some(stream)) = (self.stream.set, self.place.stream) {
            // SAFETY: the last parameter may be null.
            unsafe { set(kind, ordinal, stream as *mut c_void, null_mut()) };
        }
        let mut result = Any::NONE;
        let (arguments, count) = (self.arguments.as_ptr(), self.arguments.len() as i32);
        // SAFETY: the arguments and the tensors that they point to live through the call.
        match unsafe { (self.function)(null_mut(), arguments, count, &raw mut result) } {
            0 => Ok(()),
            // SAFETY: the function has failed in this thread.
            code => Err(AuthorError::new(AuthorFailure::Returned, unsafe { self.error(code) })),
        }
    }

    /// Returns the message of the error that the function has stored.
    ///
    /// # Safety
    /// The function has just returned `code` in this thread.
    unsafe fn error(&self, code: i32) -> String {
        let mut error: *mut ErrorObject = null_mut();
        if let Some(take) = self.take_error {
            // SAFETY: it stores a pointer to an error, or null.
            unsafe { take(&raw mut error) };
        }
        // SAFETY: an error object begins like this. It is not freed, since the case ends here.
        match unsafe { error.as_ref() } {
            // SAFETY: the text lives as long as its object.
            Some(error) if !error.message.data.is_null() => unsafe {
                let message = std::slice::from_raw_parts(error.message.data, error.message.size.min(MOST_TEXT));
                String::from_utf8_lossy(message).into_owned()
            },
            _ => format!("it returned {code}"),
        }
    }
}

/// Most bytes of an error's message that are read.
const MOST_TEXT: usize = 1 << 12;

// SAFETY: the pointers lead to memory that the value owns and to device memory. Only the thread of
// the stream makes the call.
unsafe impl Send for PackedCall {}
// SAFETY: as above.
unsafe impl Sync for PackedCall {}

impl Tensor {
    fn from_operand(operand: &Operand<'_>, place: CallPlace) -> Tensor {
        let whole: u64 = operand.tensor.shape.iter().product();
        let shape: Vec<i64> = if operand.elements == whole {
            operand.tensor.shape.iter().map(|&extent| extent as i64).collect()
        } else {
            vec![operand.elements as i64]
        };
        let dimensions = shape.len();
        let mut extents = shape;
        extents.extend(compact_strides(&extents));
        let mut extents = extents.into_boxed_slice();
        let (code, bits) = dtype(operand.tensor.dtype);
        let (device_type, device_id) = device(place);
        let shape = extents.as_mut_ptr();
        Tensor {
            header: DlTensor {
                data: operand.address as *mut c_void,
                device_type,
                device_id,
                dimensions: dimensions as i32,
                code,
                bits,
                lanes: 1,
                shape,
                strides: shape.wrapping_add(dimensions),
                byte_offset: 0,
            },
            _extents: extents,
        }
    }
}

/// Returns the distances in elements of neighbours along each dimension.
fn compact_strides(shape: &[i64]) -> Vec<i64> {
    let mut strides = vec![1; shape.len()];
    for dimension in (1..shape.len()).rev() {
        strides[dimension - 1] = strides[dimension] * shape[dimension];
    }
    strides
}

/// Returns `DLDeviceType` and the number of the device.
fn device(place: CallPlace) -> (i32, i32) {
    match place.kind {
        DeviceKind::Cpu => (1, 0),
        DeviceKind::Cuda => (2, place.ordinal as i32),
    }
}

/// Returns `DLDataTypeCode` and the number of bits.
fn dtype(dtype: DType) -> (u8, u8) {
    let code = match dtype {
        DType::I8 | DType::I16 | DType::I32 | DType::I64 => 0,
        DType::U8 | DType::U16 | DType::U32 | DType::U64 => 1,
        DType::F16 | DType::F32 | DType::F64 => 2,
        DType::BF16 => 4,
        DType::Complex32 => 5,
        DType::F8E4M3 => 10,
        DType::F8E5M2 => 12,
    };
    (code, 8 * dtype.size() as u8)
}

#[cfg(test)]
mod tests {
    use gpubench::catalog::{Fill, Role, Tolerance};

    use super::*;

    #[test]
    fn tensors_have_the_layout_of_dlpack() {
        assert_eq!((size_of::<DlTensor>(), size_of::<Any>()), (48, 16));
        assert_eq!(std::mem::offset_of!(DlTensor, shape), 24);
        assert_eq!(std::mem::offset_of!(ErrorObject, message), 40);
    }

    #[test]
    fn a_tensor_is_compact_and_a_part_of_one_is_a_vector() {
        let tensor = gpubench::catalog::Tensor {
            name: "x".to_owned(),
            dtype: DType::BF16,
            shape: vec![2, 3, 4],
            role: Role::Input,
            fill: Fill::Bits,
            tolerance: Tolerance::Exact,
            record: None,
        };
        let place = CallPlace {
            kind: DeviceKind::Cuda,
            ordinal: 3,
            stream: None,
        };
        let described = |elements| {
            let operand = Operand {
                tensor: &tensor,
                address: 4_096,
                elements,
            };
            let tensor = Tensor::from_operand(&operand, place);
            let header = &tensor.header;
            assert_eq!(
                (header.device_type, header.device_id, header.data as u64),
                (2, 3, 4_096)
            );
            assert_eq!((header.code, header.bits, header.lanes), (4, 16, 1));
            // SAFETY: as many extents as strides, which the tensor owns.
            let extents = unsafe { std::slice::from_raw_parts(header.shape, 2 * header.dimensions as usize) };
            (header.dimensions, extents.to_vec())
        };
        assert_eq!(described(24), (3, vec![2, 3, 4, 12, 4, 1]));
        assert_eq!(described(5), (1, vec![5, 1]));
    }
}
