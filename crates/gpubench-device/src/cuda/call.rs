//! Results of driver calls.

use std::ffi::{CStr, c_char, c_int};

use super::api::Api;
use crate::DeviceError;

/// `CUDA_SUCCESS`.
const SUCCESS: c_int = 0;

/// `CUDA_ERROR_OUT_OF_MEMORY`.
const OUT_OF_MEMORY: c_int = 2;

/// A driver call that failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}, from `{call}`", self.result())]
pub struct DriverError {
    /// The driver's function.
    pub call: &'static str,
    /// The arguments of the call.
    pub arguments: String,
    /// The result code.
    pub code: i32,
    /// The driver's name of the result; empty if it has none.
    pub name: String,
    /// The driver's description of the result.
    pub text: String,
}

impl DriverError {
    /// Returns the result with its name and description.
    pub(super) fn result(&self) -> String {
        let DriverError { code, name, text, .. } = self;
        match name.as_str() {
            "" => format!("the unknown result `{code}`"),
            name => format!("`{name}` ({code}): {text}"),
        }
    }

    /// Returns whether the driver was out of memory.
    pub fn is_out_of_memory(&self) -> bool {
        self.code == OUT_OF_MEMORY
    }

    /// Converts to [`DeviceError::OutOfMemory`] if the driver was out of memory.
    pub(super) fn for_bytes(self, bytes: u64) -> DeviceError {
        if self.is_out_of_memory() {
            DeviceError::OutOfMemory {
                bytes,
                source: std::io::Error::other(self),
            }
        } else {
            DeviceError::Driver(self)
        }
    }
}

impl Api {
    /// Turns every result other than success into an error.
    pub(super) fn check(
        &self,
        call: &'static str,
        code: c_int,
        arguments: impl FnOnce() -> String,
    ) -> Result<(), DriverError> {
        match code {
            SUCCESS => Ok(()),
            code => Err(DriverError {
                call,
                arguments: arguments(),
                code,
                name: words(self.cuGetErrorName, code),
                text: words(self.cuGetErrorString, code),
            }),
        }
    }
}

fn words(of: unsafe extern "C" fn(c_int, *mut *const c_char) -> c_int, code: c_int) -> String {
    let mut found = std::ptr::null();
    // SAFETY: the function writes one pointer, to a string of the driver's that is never freed, or
    // null.
    let known = unsafe { of(code, &mut found) } == SUCCESS && !found.is_null();
    if known {
        // SAFETY: as above.
        unsafe { CStr::from_ptr(found) }.to_string_lossy().into_owned()
    } else {
        String::new()
    }
}

/// Calls a driver function: `call!(api, cuMemFree_v2(address))`. An error has the function's name
/// and the arguments.
macro_rules! call {
    ($api:expr, $name:ident($($argument:expr),* $(,)?)) => {{
        let code = ($api.$name)($($argument),*);
        $api.check(stringify!($name), code, || {
            let arguments: Vec<String> = vec![$(format!("{:?}", $argument)),*];
            arguments.join(", ")
        })
    }};
}
pub(super) use call;
