//! Result codes of the driver and their names.

use std::ffi::{CStr, c_char, c_int};

use gpubench_device::DeviceError;

pub(crate) const INVALID_VALUE: c_int = 1;
pub(crate) const OUT_OF_MEMORY: c_int = 2;
pub(crate) const NOT_INITIALIZED: c_int = 3;
pub(crate) const INVALID_DEVICE: c_int = 101;
pub(crate) const INVALID_IMAGE: c_int = 200;
pub(crate) const NO_BINARY_FOR_GPU: c_int = 209;
pub(crate) const INVALID_HANDLE: c_int = 400;
pub(crate) const NOT_FOUND: c_int = 500;
pub(crate) const NOT_READY: c_int = 600;
pub(crate) const LAUNCH_FAILED: c_int = 719;
pub(crate) const NOT_SUPPORTED: c_int = 801;

/// A result code other than success.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refusal(pub(crate) c_int);

impl From<DeviceError> for Refusal {
    fn from(error: DeviceError) -> Refusal {
        Refusal(match error {
            DeviceError::OutOfMemory { .. } => OUT_OF_MEMORY,
            DeviceError::NoFunction(_) | DeviceError::NoSymbol(_) => NOT_FOUND,
            DeviceError::Load(_) => INVALID_IMAGE,
            DeviceError::Unsupported(_) => NOT_SUPPORTED,
            _ => INVALID_VALUE,
        })
    }
}

const WORDS: &[(c_int, &CStr, &CStr)] = &[
    (1, c"CUDA_ERROR_INVALID_VALUE", c"invalid argument"),
    (2, c"CUDA_ERROR_OUT_OF_MEMORY", c"out of memory"),
    (3, c"CUDA_ERROR_NOT_INITIALIZED", c"initialization error"),
    (34, c"CUDA_ERROR_STUB_LIBRARY", c"CUDA driver is a stub library"),
    (100, c"CUDA_ERROR_NO_DEVICE", c"no CUDA-capable device is detected"),
    (101, c"CUDA_ERROR_INVALID_DEVICE", c"invalid device ordinal"),
    (200, c"CUDA_ERROR_INVALID_IMAGE", c"device kernel image is invalid"),
    (
        209,
        c"CUDA_ERROR_NO_BINARY_FOR_GPU",
        c"no kernel image is available for execution on the device",
    ),
    (
        214,
        c"CUDA_ERROR_ECC_UNCORRECTABLE",
        c"uncorrectable ECC error encountered",
    ),
    (
        304,
        c"CUDA_ERROR_OPERATING_SYSTEM",
        c"OS call failed or operation not supported on this OS",
    ),
    (400, c"CUDA_ERROR_INVALID_HANDLE", c"invalid resource handle"),
    (500, c"CUDA_ERROR_NOT_FOUND", c"named symbol not found"),
    (
        700,
        c"CUDA_ERROR_ILLEGAL_ADDRESS",
        c"an illegal memory access was encountered",
    ),
    (710, c"CUDA_ERROR_ASSERT", c"device-side assert triggered"),
    (714, c"CUDA_ERROR_HARDWARE_STACK_ERROR", c"hardware stack error"),
    (
        715,
        c"CUDA_ERROR_ILLEGAL_INSTRUCTION",
        c"an illegal instruction was encountered",
    ),
    (716, c"CUDA_ERROR_MISALIGNED_ADDRESS", c"misaligned address"),
    (600, c"CUDA_ERROR_NOT_READY", c"device not ready"),
    (719, c"CUDA_ERROR_LAUNCH_FAILED", c"unspecified launch failure"),
    (801, c"CUDA_ERROR_NOT_SUPPORTED", c"operation not supported"),
    (
        803,
        c"CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
        c"system has unsupported display driver / cuda driver combination",
    ),
    (999, c"CUDA_ERROR_UNKNOWN", c"unknown error"),
];

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuGetErrorName(code: c_int, text: *mut *const c_char) -> c_int {
    // SAFETY: the caller passes a valid pointer to a pointer.
    unsafe { answer(code, text, |(_, name, _)| name) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuGetErrorString(code: c_int, text: *mut *const c_char) -> c_int {
    // SAFETY: the caller passes a valid pointer to a pointer.
    unsafe { answer(code, text, |(_, _, words)| words) }
}

unsafe fn answer(
    code: c_int,
    text: *mut *const c_char,
    part: impl Fn(&(c_int, &'static CStr, &'static CStr)) -> &'static CStr,
) -> c_int {
    let found = WORDS.iter().find(|(known, ..)| *known == code);
    // SAFETY: the caller passes a valid pointer to a pointer.
    unsafe { *text = found.map_or(std::ptr::null(), |words| part(words).as_ptr()) };
    if found.is_some() { 0 } else { INVALID_VALUE }
}
