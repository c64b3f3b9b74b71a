//! A library of a benchmark's own, and the declaration of the call into it.

use std::fmt;

use crate::catalog::{DType, DeviceFacts, Tensor};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::plan::launcher::{Arguments, BufferParam, Null, RecordedArgument, caller, declared, part_of_tensor};
use crate::plan::{ArgumentType, LibraryArgument, LibraryCall};

/// The first parameter of a `#[gpubench(hosted(library = ..))]` function, instead of a
/// [`Host`](crate::Host): it declares the call of a function in that library.
///
/// The function runs in a process without a device, and loads nothing. The call is data, like a
/// plan: in a process of its own, the tool opens the library and makes the call. So the code of the
/// library meets neither this crate nor the libraries of other benchmarks.
#[doc = include_str!("../doc/library_interface.md")]
pub struct Library {
    benchmark: String,
    tensors: Vec<Tensor>,
    facts: DeviceFacts,
    call: Option<LibraryCall>,
    /// The first error returned to the function, even if the function ignored it.
    failed: Option<Error>,
}

impl Library {
    pub(crate) fn new(benchmark: String, tensors: Vec<Tensor>, facts: DeviceFacts) -> Library {
        Library {
            benchmark,
            tensors,
            facts,
            call: None,
            failed: None,
        }
    }

    /// Declares the call to measure: of `function`, with a tuple of buffers, numbers and
    /// [`Null`](crate::Null) in the order of its parameters. A benchmark declares exactly one.
    ///
    /// # Errors
    /// Returns an error if a call is already declared, if an argument is neither a buffer nor a
    /// number of C, or if a buffer's part is out of bounds.
    ///
    /// ```
    /// use gpubench::prelude::*;
    ///
    /// fn add(library: &mut Library, n: usize, a: In<f32>, b: In<f32>, sum: Out<f32>) -> Result<()> {
    ///     library.call("solution", (a, b, sum, n))
    /// }
    /// ```
    #[track_caller]
    pub fn call(&mut self, function: impl Into<String>, arguments: impl Arguments) -> Result<()> {
        let (function, place) = (function.into(), caller());
        let declared = self.described_call(&function, &place, arguments);
        declared.map_err(|error| {
            let error = error.context(format!("{place}: `{}`: call of `{function}`", self.benchmark));
            self.failed.get_or_insert_with(|| error.clone());
            error
        })
    }

    /// Returns the properties of the device that the call is for.
    pub fn device(&self) -> &DeviceFacts {
        &self.facts
    }

    /// Returns an error that skips the case, with the reason. See [`Error::skip`].
    pub fn skip(&self, reason: impl fmt::Display) -> Error {
        Error::skip(reason)
    }

    fn described_call(&mut self, function: &str, place: &str, arguments: impl Arguments) -> Result<()> {
        if self.call.is_some() {
            return Err(Error::new("a benchmark declares exactly one call"));
        }
        let arguments = arguments.arguments().into_iter().enumerate();
        let arguments = arguments.map(|(position, argument)| {
            library_argument(argument).map_err(|error| error.context(format!("argument {}", position + 1)))
        });
        self.call = Some(LibraryCall {
            function: function.to_owned(),
            arguments: arguments.collect::<Result<_>>()?,
            place: place.to_owned(),
        });
        Ok(())
    }

    /// Returns the buffer for the parameter `name`.
    pub(crate) fn buffer<B: BufferParam>(&self, name: &str, place: &str) -> Result<B> {
        let buffer = match B::Element::RECORD {
            None => declared(&self.tensors, name),
            Some(record) => Err(Error::new(format!(
                "structs such as `{}` cannot be passed to a library (hint: make each field a tensor of its own)",
                record.name
            ))),
        };
        buffer.map_err(|error| error.context(format!("{place}: `{}`", self.benchmark)))
    }

    pub(crate) fn into_call(self) -> Result<LibraryCall> {
        match (self.failed, self.call) {
            (Some(error), _) => Err(error),
            (None, Some(call)) => Ok(call),
            (None, None) => Err(Error::new(format!(
                "`{}` declares nothing to measure (hint: name the function with `Library::call`)",
                self.benchmark
            ))),
        }
    }
}

fn library_argument(argument: RecordedArgument) -> Result<LibraryArgument> {
    match argument {
        RecordedArgument::Pointer(view, _) => {
            let (tensor, elements) = part_of_tensor(view)?;
            Ok(LibraryArgument::Buffer {
                tensor,
                start: elements.start,
                elements: elements.end - elements.start,
            })
        }
        RecordedArgument::Value(_, ty) if ty == Null.type_in_rust() => Ok(LibraryArgument::Null),
        RecordedArgument::Value(bytes, ty) => number(&bytes, &ty),
        RecordedArgument::TensorMap(..) => Err(no_argument("TensorMap")),
    }
}

fn number(bytes: &[u8], ty: &ArgumentType) -> Result<LibraryArgument> {
    // An array has a field without a name too.
    let is_array = ty.name.starts_with('[');
    match &*ty.fields {
        [field] if field.name.is_empty() && !is_array && field.count == 1 && is_of_c(field.dtype) => {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            Ok(LibraryArgument::Number {
                dtype: field.dtype,
                bits: u64::from_le_bytes(word),
            })
        }
        _ => Err(no_argument(&ty.name)),
    }
}

/// Whether C has the type.
fn is_of_c(dtype: DType) -> bool {
    !dtype.is_float() || matches!(dtype, DType::F32 | DType::F64)
}

fn no_argument(ty: &str) -> Error {
    Error::new(format!(
        "`{ty}` cannot be passed to a library: pass buffers, integers, `f32`, `f64`, `bool` and `Null` (hint: other data \
         can be a constant tensor)"
    ))
}

impl fmt::Debug for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Library")
            .field("benchmark", &self.benchmark)
            .field("call", &self.call)
            .finish_non_exhaustive()
    }
}
