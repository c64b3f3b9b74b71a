//! The call of a function in a benchmark's own library, as data.

use crate::catalog::{DType, Tensor};
use crate::error::{Error, Result};

/// Maximum number of arguments: that of a tuple.
const MAX_ARGUMENTS: usize = 32;

/// The call of a function in a library that only the benchmark's worker opens.
///
/// The library's function has the C interface of the platform, or that of TVM-FFI if the library
/// exports `__tvm_ffi_` and its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LibraryCall {
    /// Name of the function.
    pub function: String,
    /// Arguments in order, without the stream.
    pub arguments: Vec<LibraryArgument>,
    /// Source location of the call, as `file:line`.
    pub place: String,
}

/// An argument of a function in a library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LibraryArgument {
    /// A device pointer, or a tensor for TVM-FFI: all elements of a tensor or some of them.
    Buffer {
        /// Index in [`Recording::tensors`](crate::catalog::Recording::tensors).
        tensor: u32,
        /// First element.
        start: u64,
        /// Number of elements.
        elements: u64,
    },
    /// An integer, a floating-point number or a `bool`.
    Number {
        /// Type. `bool` counts as `u8`. Of the floating-point types only `f32` and `f64`.
        dtype: DType,
        /// Bits of the number. Those above its size are zero.
        bits: u64,
    },
    /// A null pointer.
    Null,
}

/// Checks a call of a benchmark with these tensors.
///
/// # Errors
/// Returns the first violation.
pub(super) fn check_library_call(call: &LibraryCall, tensors: &[Tensor]) -> Result<()> {
    check_name(&call.function)?;
    if call.arguments.len() > MAX_ARGUMENTS {
        return Err(Error::new(format!(
            "a function can have at most {MAX_ARGUMENTS} arguments"
        )));
    }
    for (position, argument) in call.arguments.iter().enumerate() {
        check_argument(argument, tensors).map_err(|error| error.context(format!("argument {}", position + 1)))?;
    }
    let is_passed = |position: usize| {
        let mut arguments = call.arguments.iter();
        arguments
            .any(|argument| matches!(argument, LibraryArgument::Buffer { tensor, .. } if *tensor as usize == position))
    };
    let mut outputs = tensors.iter().enumerate().filter(|(_, tensor)| tensor.role.is_output());
    match outputs.find(|(position, _)| !is_passed(*position)) {
        None => Ok(()),
        Some((_, tensor)) => Err(Error::new(format!("no argument is the output `{}`", tensor.name))),
    }
}

/// Checks that a name can be one of C.
fn check_name(name: &str) -> Result<()> {
    let letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.chars().all(letter) && name.starts_with(|c: char| !c.is_ascii_digit()) {
        Ok(())
    } else {
        Err(Error::new(format!(
            "`{name}` is not the name of a function in C (hint: declare a C++ function `extern \"C\"`)"
        )))
    }
}

fn check_argument(argument: &LibraryArgument, tensors: &[Tensor]) -> Result<()> {
    match argument {
        LibraryArgument::Buffer {
            tensor,
            start,
            elements,
        } => {
            let tensor = tensors
                .get(*tensor as usize)
                .ok_or_else(|| Error::new("there is no such tensor"))?;
            if start.checked_add(*elements).is_some_and(|end| end <= tensor.elements()) {
                Ok(())
            } else {
                Err(Error::new(format!("it leaves the tensor `{}`", tensor.name)))
            }
        }
        LibraryArgument::Number { dtype, bits } => {
            let is_of_c = !dtype.is_float() || matches!(dtype, DType::F32 | DType::F64);
            let fits = bits.checked_shr(8 * dtype.size() as u32).unwrap_or(0) == 0;
            if is_of_c && fits {
                Ok(())
            } else {
                Err(Error::new("its number is not one of C"))
            }
        }
        LibraryArgument::Null => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::{Fill, Role, Tolerance};

    /// An input of 2 x 3 floats and an output of 3.
    fn tensors() -> Vec<Tensor> {
        let tensor = |name: &str, shape, role| Tensor {
            name: name.to_owned(),
            dtype: DType::F32,
            shape,
            role,
            fill: Fill::Poison,
            tolerance: Tolerance::Exact,
            record: None,
        };
        vec![tensor("x", vec![2, 3], Role::Input), tensor("y", vec![3], Role::Output)]
    }

    const OUTPUT: LibraryArgument = buffer(1, 0, 3);

    const fn buffer(tensor: u32, start: u64, elements: u64) -> LibraryArgument {
        LibraryArgument::Buffer {
            tensor,
            start,
            elements,
        }
    }

    const fn number(dtype: DType, bits: u64) -> LibraryArgument {
        LibraryArgument::Number { dtype, bits }
    }

    fn checked(function: &str, arguments: Vec<LibraryArgument>) -> Result<(), String> {
        let call = LibraryCall {
            function: function.to_owned(),
            arguments,
            place: "src/lib.rs:1".to_owned(),
        };
        check_library_call(&call, &tensors()).map_err(|error| error.to_string())
    }

    #[test]
    fn parts_of_tensors_numbers_and_null_can_be_arguments() {
        let all = [
            buffer(0, 0, 6),
            buffer(0, 6, 0),
            OUTPUT,
            number(DType::U8, 255),
            number(DType::I64, u64::MAX),
            number(DType::F32, u32::MAX.into()),
            LibraryArgument::Null,
        ];
        assert_eq!(checked("_solution2", all.to_vec()), Ok(()));
        let mut most = vec![LibraryArgument::Null; MAX_ARGUMENTS - 1];
        most.push(OUTPUT);
        assert_eq!(checked("solution", most.clone()), Ok(()));
        most.push(OUTPUT);
        assert!(checked("solution", most).unwrap_err().contains("at most 32 arguments"));
    }

    #[test]
    fn an_argument_outside_of_its_tensor_or_type_is_refused() {
        for (argument, words) in [
            (buffer(2, 0, 1), "argument 2: there is no such tensor"),
            (buffer(0, 1, 6), "argument 2: it leaves the tensor `x`"),
            (buffer(0, u64::MAX, 2), "argument 2: it leaves the tensor `x`"),
            (number(DType::U8, 256), "argument 2: its number is not one of C"),
            (number(DType::F32, 1 << 32), "argument 2: its number is not one of C"),
            (number(DType::F16, 0), "argument 2: its number is not one of C"),
            (number(DType::BF16, 0), "argument 2: its number is not one of C"),
        ] {
            assert_eq!(checked("solution", vec![OUTPUT, argument]), Err(words.to_owned()));
        }
    }

    #[test]
    fn every_output_is_an_argument() {
        let error = checked("solution", vec![buffer(0, 0, 6)]).unwrap_err();
        assert_eq!(error, "no argument is the output `y`");
    }

    #[test]
    fn a_function_has_a_name_of_c() {
        for name in ["", "1st", "ns::solution", "solution()", "solution\0", "_Z8sölution"] {
            let error = checked(name, vec![OUTPUT]).unwrap_err();
            assert!(error.contains("is not the name of a function in C"), "{error}");
        }
    }
}
