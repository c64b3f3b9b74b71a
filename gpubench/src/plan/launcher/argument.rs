//! Kernel arguments.

use super::buffer::{Buffer, BufferParam, Constant, In, InOut, Out, Scratch, View};
use crate::catalog::{DType, Role};
use crate::element::{BF16, Complex32, Element, F8E4M3, F8E5M2, F16, type_name};
use crate::plan::{ArgumentType, FieldType, TensorMapDescription};

/// An argument of a kernel: a buffer, [`Null`], a scalar, or a `#[repr(C)]` struct that derives
/// [`KernelArg`](derive@crate::KernelArg).
///
/// | Rust | CUDA C++ |
/// |---|---|
/// | `In<T>`, `Constant<T>` | `const T *` |
/// | `Out<T>`, `InOut<T>`, `Scratch<T>` | `T *` |
/// | [`Null`] | any pointer, null |
/// | `u8` … `u64`, `i8` … `i64` | `unsigned char` … `unsigned long long`, `signed char` … `long long` |
/// | `usize`, `isize` | `size_t`, `long long` |
/// | `bool`, `f32`, `f64`, `F16`, `BF16` | `bool`, `float`, `double`, `__half`, `__nv_bfloat16` |
/// | `F8E4M3`, `F8E5M2` | `__nv_fp8_e4m3`, `__nv_fp8_e5m2`; a pointer may be `unsigned char *` |
/// | `Complex32` | `float2`, `cuComplex`, `cuFloatComplex`; a pointer may be `float *` |
/// | a `#[repr(C)]` struct with `#[derive(KernelArg)]` | a struct with the same fields |
/// | `0u8` | a struct without fields, which has one byte in C++ |
/// | [`TensorMap`](crate::TensorMap) | `const __grid_constant__ CUtensorMap` |
///
/// In a launch by the kernel's name, the Rust compiler does not see the parameter types; the
/// functions of [`cuda_source!`](crate::cuda_source) have them. Before a kernel runs, the tool
/// compares the arguments with the kernel's source. An integer for a `float` is an error, and so is
/// a buffer of `f64` for a `float *`, unless it is scratch memory. After the kernel is compiled,
/// the tool also compares the sizes of the arguments. Literals without a suffix are `i32` and
/// `f64`, as everywhere in Rust: write `2.0f32`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a kernel argument",
    label = "not a kernel argument",
    note = "arguments are buffers, `Null`, numbers, `bool`, and `#[repr(C)]` structs with `#[derive(KernelArg)]`"
)]
pub trait KernelArg {
    #[doc(hidden)]
    fn argument(&self) -> RecordedArgument;
}

/// An argument before it is checked.
#[doc(hidden)]
#[derive(Debug)]
pub enum RecordedArgument {
    Pointer(View, ArgumentType),
    Value(Vec<u8>, ArgumentType),
    TensorMap(View, TensorMapDescription),
}

impl RecordedArgument {
    /// Rust type.
    pub(crate) fn type_in_rust(&self) -> ArgumentType {
        match self {
            RecordedArgument::Pointer(_, ty) | RecordedArgument::Value(_, ty) => ty.clone(),
            RecordedArgument::TensorMap(..) => ArgumentType {
                name: "TensorMap".to_owned(),
                fields: Vec::new(),
            },
        }
    }
}

/// A value that a kernel takes by value: a scalar, an array in a struct, or a struct that derives
/// `KernelArg`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be part of a kernel argument",
    label = "not a number, an array of numbers or a struct with `#[derive(KernelArg)]`",
    note = "a struct cannot contain buffers: pass them as separate arguments"
)]
#[doc(hidden)]
pub trait KernelValue {
    /// Writes the value in device byte order. `out` has the value's size and is zero.
    fn write(&self, out: &mut [u8]);

    /// Adds the numbers of a value with this name and offset, if they are known.
    fn fields(name: &str, offset: usize, fields: &mut Vec<FieldType>);
}

/// Returns the name of a number in a struct's field.
#[doc(hidden)]
#[must_use]
pub fn field_name(outer: &str, field: &str) -> String {
    match outer {
        "" => field.to_owned(),
        outer => format!("{outer}.{field}"),
    }
}

/// Returns a type's name without its module path.
fn short_name<T>() -> String {
    let name = std::any::type_name::<T>();
    let short = |part: &str| part.rsplit("::").next().unwrap_or(part).to_owned();
    name.split_inclusive(['<', '>', ',', ' ', '[', ';'])
        .map(short)
        .collect()
}

/// Converts a value to an argument, for numbers and [`KernelArg`](derive@crate::KernelArg).
#[doc(hidden)]
pub fn value<T: KernelValue>(value: &T) -> RecordedArgument {
    let mut bytes = vec![0; size_of::<T>()];
    value.write(&mut bytes);
    let mut fields = Vec::new();
    T::fields("", 0, &mut fields);
    let name = short_name::<T>();
    RecordedArgument::Value(bytes, ArgumentType { name, fields })
}

impl<T: KernelValue, const N: usize> KernelArg for [T; N] {
    fn argument(&self) -> RecordedArgument {
        value(self)
    }
}

/// Exists for the error message only: no type implements it, so a `Result` is never an argument.
#[diagnostic::on_unimplemented(
    message = "a `Result` cannot be a kernel argument, but its value can",
    label = "add `?` to the call that returns it",
    note = "`launcher.scratch(..)?` is a buffer; `launcher.scratch(..)` is a `Result`"
)]
#[doc(hidden)]
pub trait Unwrapped {
    fn never(&self) -> RecordedArgument;
}

impl<T, E> KernelArg for std::result::Result<T, E>
where
    std::result::Result<T, E>: Unwrapped,
{
    fn argument(&self) -> RecordedArgument {
        self.never()
    }
}

/// A null pointer, for an optional pointer parameter such as the bias of a layer.
///
/// ```
/// use gpubench::prelude::*;
/// # cuda_source!(IMAGE = "../../../doc/image.cu");
///
/// fn scale(launcher: &mut Launcher, rows: usize, x: In<f32>, y: Out<f32>) -> Result<()> {
///     launcher.launch(IMAGE.kernel("scale_and_shift"), Grid::new(rows, 256), (x, Null, y))
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Null;

impl Null {
    pub(crate) fn type_in_rust(self) -> ArgumentType {
        ArgumentType {
            name: "Null".to_owned(),
            fields: Vec::new(),
        }
    }
}

impl KernelArg for Null {
    fn argument(&self) -> RecordedArgument {
        RecordedArgument::Value(vec![0; size_of::<u64>()], self.type_in_rust())
    }
}

macro_rules! scalars {
    ($($scalar:ident as $dtype:ident,)*) => {$(
        impl KernelValue for $scalar {
            fn write(&self, out: &mut [u8]) {
                out.copy_from_slice(&self.to_le_bytes());
            }

            fn fields(name: &str, offset: usize, fields: &mut Vec<FieldType>) {
                fields.push(field(name, offset, DType::$dtype));
            }
        }
    )*};
}

macro_rules! values {
    ($($value:ident)*) => {$(
        impl KernelArg for $value {
            fn argument(&self) -> RecordedArgument {
                value(self)
            }
        }
    )*};
}

values!(u8 u16 u32 u64 usize i8 i16 i32 i64 isize f32 f64 bool F16 BF16 F8E4M3 F8E5M2 Complex32);

fn field(name: &str, offset: usize, dtype: DType) -> FieldType {
    FieldType {
        name: name.to_owned(),
        offset: offset as u32,
        dtype,
        count: 1,
    }
}

scalars!(
    u8 as U8,
    u16 as U16,
    u32 as U32,
    u64 as U64,
    usize as U64,
    i8 as I8,
    i16 as I16,
    i32 as I32,
    i64 as I64,
    isize as I64,
    f32 as F32,
    f64 as F64,
);

impl KernelValue for bool {
    fn write(&self, out: &mut [u8]) {
        u8::from(*self).write(out);
    }

    fn fields(name: &str, offset: usize, fields: &mut Vec<FieldType>) {
        fields.push(field(name, offset, DType::U8));
    }
}

macro_rules! short_floats {
    ($($float:ident)*) => {$(
        impl KernelValue for $float {
            fn write(&self, out: &mut [u8]) {
                self.to_bits().write(out);
            }

            fn fields(name: &str, offset: usize, fields: &mut Vec<FieldType>) {
                fields.push(field(name, offset, DType::$float));
            }
        }
    )*};
}

short_floats!(F16 BF16 F8E4M3 F8E5M2);

/// Structs in C++ may have one field for it or two.
impl KernelValue for Complex32 {
    fn write(&self, out: &mut [u8]) {
        [self.re, self.im].write(out);
    }

    fn fields(name: &str, offset: usize, fields: &mut Vec<FieldType>) {
        <[f32; 2]>::fields(name, offset, fields);
    }
}

impl<T: KernelValue, const N: usize> KernelValue for [T; N] {
    fn write(&self, out: &mut [u8]) {
        for (index, element) in self.iter().enumerate() {
            let start = index * size_of::<T>();
            element.write(&mut out[start..start + size_of::<T>()]);
        }
    }

    fn fields(name: &str, offset: usize, fields: &mut Vec<FieldType>) {
        let mut of_element = Vec::new();
        T::fields(name, offset, &mut of_element);
        // The fields of an array of structs are not described.
        if let [element] = &mut *of_element {
            element.count = element.count.saturating_mul(N as u32);
            fields.append(&mut of_element);
        }
    }
}

macro_rules! pointers {
    ($($buffer:ident)*) => {$(
        impl<T: Element> KernelArg for $buffer<T> {
            fn argument(&self) -> RecordedArgument {
                let name = format!("{}<{}>", stringify!($buffer), type_name::<T>());
                let fields = match (<$buffer<T> as BufferParam>::ROLE, T::RECORD) {
                    // Scratch memory has no fixed type, and a kernel may see structs as numbers.
                    (Role::Scratch, _) | (_, Some(_)) => Vec::new(),
                    (_, None) => vec![field("", 0, T::DTYPE)],
                };
                RecordedArgument::Pointer(self.view(), ArgumentType { name, fields })
            }
        }
    )*};
}

pointers!(In Out InOut Scratch Constant);

/// The arguments of a launch: a tuple of up to 32, in the kernel's parameter order. One argument is
/// `(x,)`, none is `()`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tuple of kernel arguments",
    label = "not a tuple of kernel arguments",
    note = "arguments are a tuple of up to 32 buffers, numbers and `#[derive(KernelArg)]` structs; one argument is `(x,)`"
)]
pub trait Arguments {
    #[doc(hidden)]
    fn arguments(&self) -> Vec<RecordedArgument>;
}

macro_rules! tuple {
    ($($argument:ident)*) => {
        impl<$($argument: KernelArg),*> Arguments for ($($argument,)*) {
            #[allow(non_snake_case)]
            fn arguments(&self) -> Vec<RecordedArgument> {
                let ($($argument,)*) = self;
                vec![$($argument.argument()),*]
            }
        }
    };
}

/// Implements the tuple in the brackets, then each longer one.
macro_rules! tuples {
    ([$($argument:ident)*]) => {
        tuple!($($argument)*);
    };
    ([$($argument:ident)*] $next:ident $($rest:ident)*) => {
        tuple!($($argument)*);
        tuples!([$($argument)* $next] $($rest)*);
    };
}

tuples!([] A B C D E F G H I J K L M N O P Q R S T U V W X Y Z Aa Bb Cc Dd Ee Ff);
