//! What the functions that `cuda_source!` makes of kernels take for their parameters.

use super::argument::{KernelArg, Null, RecordedArgument, value};
use super::buffer::{Constant, In, InOut, Out, Scratch};
use crate::element::{Complex32, Element, F8E4M3, F8E5M2};
use crate::error::{Error, Result};

/// An argument for a parameter `const T *` of a kernel: a buffer of `T`, [`Scratch`] memory or
/// [`Null`].
///
/// `T` is [`AnyElement`] if the parameter's type is no element type: `const void *`, `const float4
/// *`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a buffer of `{T}` that a kernel can read",
    label = "the kernel takes a `const` pointer to `{T}`",
    note = "pass an `In`, `Constant`, `Out` or `InOut` of `{T}`, a `Scratch` (`launcher.scratch(..)?`), or `Null`"
)]
pub trait ConstPointer<T>: KernelArg + sealed::Pointer {}

/// An argument for a parameter `T *` of a kernel, which may write it: an [`Out`] or [`InOut`] of
/// `T`, [`Scratch`] memory or [`Null`].
///
/// `T` is [`AnyElement`] if the parameter's type is no element type: `void *`, `float4 *`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a buffer of `{T}` that a kernel can write",
    label = "the kernel takes a pointer to `{T}` that is not `const`",
    note = "pass an `Out` or `InOut` of `{T}`, a `Scratch` (`launcher.scratch(..)?`), or `Null`",
    note = "if the kernel only reads it, declare the parameter `const`, or launch the kernel with `Launcher::launch`"
)]
pub trait MutPointer<T>: KernelArg + sealed::Pointer {}

/// Stands for every element type, in [`ConstPointer`] and [`MutPointer`].
#[derive(Clone, Copy, Debug)]
pub enum AnyElement {}

/// Stands for `u8` and `i8`, where a kernel has `char` or `bool`.
#[derive(Clone, Copy, Debug)]
pub enum Byte {}

/// An argument for an integer parameter of a kernel, which is a `T` in Rust: any integer. A value
/// that does not fit is an error of the launch.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an integer",
    label = "the kernel takes an integer, in Rust `{T}`"
)]
pub trait IntegerArg<T>: Copy + sealed::Integer {
    #[doc(hidden)]
    fn wide(self) -> i128;
}

/// The type of an integer parameter.
#[doc(hidden)]
pub trait IntegerParameter {
    /// Returns the argument, if the value fits.
    fn recorded(value: i128) -> Option<RecordedArgument>;
}

mod sealed {
    pub trait Pointer {}
    pub trait Integer {}
}

macro_rules! pointers {
    ($($buffer:ident is $($access:ident)*;)*) => {$(
        impl<T: Element> sealed::Pointer for $buffer<T> {}
        $(
            #[diagnostic::do_not_recommend]
            impl<T: Element> $access<T> for $buffer<T> {}
            #[diagnostic::do_not_recommend]
            impl<T: Element> $access<AnyElement> for $buffer<T> {}
            #[diagnostic::do_not_recommend]
            impl $access<Byte> for $buffer<u8> {}
            #[diagnostic::do_not_recommend]
            impl $access<Byte> for $buffer<i8> {}
            // Kernels take numbers of 8 bits as bytes too, and complex numbers as their parts.
            pointers!($access for $buffer: F8E4M3 as u8, F8E5M2 as u8, u8 as F8E4M3, u8 as F8E5M2, Complex32 as f32);
        )*
    )*};
    ($access:ident for $buffer:ident: $($element:ident as $other:ident),*) => {$(
        #[diagnostic::do_not_recommend]
        impl $access<$other> for $buffer<$element> {}
    )*};
}

pointers! {
    In is ConstPointer;
    Constant is ConstPointer;
    Out is ConstPointer MutPointer;
    InOut is ConstPointer MutPointer;
}

// Scratch memory has no fixed type.
impl<T: Element> sealed::Pointer for Scratch<T> {}
#[diagnostic::do_not_recommend]
impl<T: Element, U> ConstPointer<U> for Scratch<T> {}
#[diagnostic::do_not_recommend]
impl<T: Element, U> MutPointer<U> for Scratch<T> {}

impl sealed::Pointer for Null {}
#[diagnostic::do_not_recommend]
impl<T> ConstPointer<T> for Null {}
#[diagnostic::do_not_recommend]
impl<T> MutPointer<T> for Null {}

macro_rules! integers {
    ($($integer:ident)*) => {$(
        impl sealed::Integer for $integer {}

        #[diagnostic::do_not_recommend]
        impl<T: IntegerParameter> IntegerArg<T> for $integer {
            fn wide(self) -> i128 {
                self as i128
            }
        }
    )*};
}

integers!(u8 u16 u32 u64 usize i8 i16 i32 i64 isize);

macro_rules! parameters {
    ($($integer:ident)*) => {$(
        impl IntegerParameter for $integer {
            fn recorded(wide: i128) -> Option<RecordedArgument> {
                $integer::try_from(wide).ok().map(|narrow| value(&narrow))
            }
        }
    )*};
}

parameters!(u8 u16 u32 u64 i8 i16 i32 i64);

impl IntegerParameter for Byte {
    fn recorded(wide: i128) -> Option<RecordedArgument> {
        i8::recorded(wide).or_else(|| u8::recorded(wide))
    }
}

/// Returns the argument for an integer parameter, which is declared as `written`.
///
/// # Errors
/// Returns an error if the value does not fit.
pub fn integer<T: IntegerParameter>(argument: impl IntegerArg<T>, written: &str) -> Result<RecordedArgument> {
    let wide = argument.wide();
    let recorded = T::recorded(wide);
    recorded.ok_or_else(|| Error::new(format!("{wide} does not fit in `{written}`")))
}
