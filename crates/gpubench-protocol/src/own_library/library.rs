//! Opens a library and finds a function in it.

#![allow(unsafe_code)]

use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};

use gpubench::catalog::{DeviceKind, Tensor};
use gpubench::plan::{LibraryArgument, LibraryCall};
use libloading::os::unix::{Library as UnixLibrary, RTLD_LOCAL, RTLD_NOW};

use super::registers::{CFunction, Call};
use super::tvm_ffi::{PackedCall, PackedFunction, TVM_PREFIX, TvmStream};
use crate::cdylib::AuthorError;
use crate::wire::AuthorFailure;
use gpubench_device::FrozenFile;
use gpubench_diagnostic::chain;

/// An open library. It is never closed: its threads may still run.
pub(crate) struct OwnLibrary {
    library: ManuallyDrop<UnixLibrary>,
}

/// Where a call is made: the device, and the stream if the call may only queue its work.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallPlace {
    /// Kind of the device.
    pub(crate) kind: DeviceKind,
    /// Ordinal of the device in this process.
    pub(crate) ordinal: u32,
    /// The driver's handle of the stream on which the call must queue its work.
    pub(crate) stream: Option<u64>,
}

/// A call with the memory of its tensors.
pub(crate) enum BoundCall {
    /// Of a function of C.
    C(Box<Call>),
    /// Of a function of TVM-FFI.
    Packed(PackedCall),
}

/// A tensor's description, address and part for an argument.
#[derive(Clone, Copy)]
pub(super) struct Operand<'a> {
    pub(super) tensor: &'a Tensor,
    /// Address of the first element of the part.
    pub(super) address: u64,
    pub(super) elements: u64,
}

impl OwnLibrary {
    /// Opens a library. Its symbols stay its own, but from here on its code runs in this process.
    ///
    /// # Errors
    /// If the dynamic linker refuses it.
    pub(crate) fn open(file: &FrozenFile) -> Result<OwnLibrary, AuthorError> {
        let path = file.path_for_linker().map_err(|error| refused(error.to_string()))?;
        // SAFETY: this runs constructors of code that is not trusted. This process exists to run
        // it, and has nothing that it must not reach.
        let library = unsafe { UnixLibrary::open(Some(&path), RTLD_NOW | RTLD_LOCAL) };
        let library = library.map_err(|error| {
            let message = chain(&error).replace(&*path.to_string_lossy(), "the library");
            refused(explain(&message))
        })?;
        Ok(OwnLibrary {
            library: ManuallyDrop::new(library),
        })
    }

    /// Finds the function of a call and gives it the memory of the tensors, an address for each.
    ///
    /// # Errors
    /// If the library has no such function, or cannot know the stream.
    pub(crate) fn bind(
        &self,
        call: &LibraryCall,
        tensors: &[Tensor],
        addresses: &[u64],
        place: CallPlace,
    ) -> Result<BoundCall, AuthorError> {
        let operand = |tensor: u32, start: u64, elements: u64| {
            let (of, address) = (tensors.get(tensor as usize), addresses.get(tensor as usize));
            let (of, address) = of.zip(address).ok_or_else(|| refused("a tensor is missing"))?;
            Ok(Operand {
                tensor: of,
                address: address + start * of.dtype.size() as u64,
                elements,
            })
        };
        let operands = call.arguments.iter().map(|argument| match argument {
            LibraryArgument::Buffer {
                tensor,
                start,
                elements,
            } => operand(*tensor, *start, *elements).map(Passed::Buffer),
            LibraryArgument::Number { dtype, bits } => Ok(Passed::Number(*dtype, *bits)),
            LibraryArgument::Null => Ok(Passed::Null),
        });
        let passed = operands.collect::<Result<Vec<_>, AuthorError>>()?;
        if let Some(function) = self.symbol::<PackedFunction>(&format!("{TVM_PREFIX}{}", call.function)) {
            let stream = TvmStream::find(self, place)?;
            return Ok(BoundCall::Packed(PackedCall::new(
                self, function, stream, &passed, place,
            )));
        }
        let function = self.symbol::<CFunction>(&call.function).ok_or_else(|| missing(call))?;
        Ok(BoundCall::C(Box::new(Call::new(function, &passed, place.stream)?)))
    }

    /// Returns what the library, or a library that it needs, exports under a name. `T` is the type
    /// of a function pointer.
    pub(super) fn symbol<T: Copy>(&self, name: &str) -> Option<T> {
        const { assert!(size_of::<T>() == size_of::<*mut c_void>()) };
        // SAFETY: `T` has the size of a pointer, and `Option` of a function pointer may be null.
        // What it points to has the declared type, or else the library breaks only its own
        // process.
        unsafe { self.library.get::<Option<T>>(name.as_bytes()) }
            .ok()
            .and_then(|symbol| *symbol)
    }
}

impl BoundCall {
    /// Makes the call. An exception that it throws ends the process here.
    ///
    /// # Errors
    /// If a function of TVM-FFI reports one.
    ///
    /// # Safety
    /// The tensors that the call was bound to are mapped, and one thread calls at a time.
    pub(crate) unsafe fn call(&self) -> Result<(), AuthorError> {
        let made = catch_unwind(AssertUnwindSafe(|| match self {
            BoundCall::C(call) => {
                // SAFETY: as the caller guarantees.
                unsafe { call.call() };
                Ok(())
            }
            // SAFETY: as the caller guarantees.
            BoundCall::Packed(call) => unsafe { call.call() },
        }));
        made.unwrap_or_else(|_| Err(AuthorError::new(AuthorFailure::Panicked, "it threw an exception")))
    }
}

/// An argument with its memory.
#[derive(Clone, Copy)]
pub(super) enum Passed<'a> {
    Buffer(Operand<'a>),
    Number(gpubench::catalog::DType, u64),
    Null,
}

pub(super) fn refused(message: impl Into<String>) -> AuthorError {
    AuthorError::new(AuthorFailure::Library, message)
}

fn missing(call: &LibraryCall) -> AuthorError {
    let LibraryCall { function, place, .. } = call;
    refused(format!(
        "{place}: the library exports neither `{function}` nor `{TVM_PREFIX}{function}` (hint: in C++ and CUDA, declare the function \
         `extern \"C\"`; `nm -D` lists what a library exports)"
    ))
}

/// Returns the linker's message, with a hint if the cause is known.
fn explain(message: &str) -> String {
    let hint = if message.contains("undefined symbol") {
        "link the library that defines it, or leave out what calls it"
    } else if message.contains("cannot open shared object file") {
        "install it, or name its folder in `LD_LIBRARY_PATH`: the folder of the library is not searched"
    } else if message.contains("version `") {
        "build it on a machine with the same C library"
    } else if message.contains("static TLS block") {
        "build it with `-ftls-model=global-dynamic`"
    } else {
        "the dynamic linker must be able to open it, as `ldd` shows"
    };
    format!("{message} (hint: {hint})")
}
