//! Calls a function of C whose parameters are known only at run time.
//!
//! In the calling conventions of Linux on x86-64 (System V) and AArch64 (AAPCS64), integers and
//! pointers take the first registers of one kind, floating-point numbers the first of another, and
//! what is left takes words on the stack in the order of the parameters. So one type of function,
//! with all registers and enough words, reaches every function without structs.

#![allow(unsafe_code)]

use gpubench::catalog::DType;

use super::library::{Passed, refused};
use crate::cdylib::AuthorError;

/// Number of registers for integers and pointers.
const INTEGERS: usize = if cfg!(target_arch = "aarch64") { 8 } else { 6 };

/// Number of registers for floating-point numbers.
const FLOATS: usize = 8;

/// Number of words on the stack: for 32 arguments and a stream, all of one kind.
const STACK: usize = 27;

macro_rules! one_of {
    ($_:literal $ty:ty) => {
        $ty
    };
}

/// Declares the type of the function, and its call with one register or word for each number.
macro_rules! convention {
    ([$($integer:literal)*] [$($float:literal)*] [$($word:literal)*]) => {
        /// A function of C, with every register and word that an argument can take. It may throw.
        pub(super) type CFunction = unsafe extern "C-unwind" fn(
            $(one_of!($integer u64),)* $(one_of!($float f64),)* $(one_of!($word u64),)*
        );

        impl Call {
            /// Makes the call.
            ///
            /// # Safety
            /// The function accepts these arguments.
            pub(super) unsafe fn call(&self) {
                let Call { function, integers, floats, stack } = self;
                // SAFETY: the function finds its arguments where the convention says. It ignores
                // the others: the caller saves registers and removes words.
                unsafe { function($(integers[$integer],)* $(f64::from_bits(floats[$float]),)* $(stack[$word],)*) }
            }
        }
    };
}

#[cfg(not(target_arch = "aarch64"))]
convention!([0 1 2 3 4 5] [0 1 2 3 4 5 6 7] [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26]);
#[cfg(target_arch = "aarch64")]
convention!([0 1 2 3 4 5 6 7] [0 1 2 3 4 5 6 7] [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26]);

/// A call of a function of C.
pub(crate) struct Call {
    function: CFunction,
    integers: [u64; INTEGERS],
    /// Bits of floating-point numbers; an `f32` has the lower half.
    floats: [u64; FLOATS],
    stack: [u64; STACK],
}

impl Call {
    /// Places the arguments, and the stream after them if there is one.
    ///
    /// # Errors
    /// If the convention of this processor is not known, or if there are too many arguments.
    pub(super) fn new(function: CFunction, passed: &[Passed<'_>], stream: Option<u64>) -> Result<Call, AuthorError> {
        if !cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
            return Err(refused("this processor's calling convention is not known"));
        }
        let mut call = Call {
            function,
            integers: [0; INTEGERS],
            floats: [0; FLOATS],
            stack: [0; STACK],
        };
        let words = passed.iter().map(Word::from_passed).chain(stream.map(Word::Integer));
        let (mut integers, mut floats) = (call.integers.iter_mut(), call.floats.iter_mut());
        let mut stack = call.stack.iter_mut();
        for word in words {
            let (register, bits) = match word {
                Word::Integer(bits) => (integers.next(), bits),
                Word::Float(bits) => (floats.next(), bits),
            };
            let place = register.or_else(|| stack.next());
            *place.ok_or_else(|| refused("it has too many arguments"))? = bits;
        }
        Ok(call)
    }
}

/// An argument as a register or a word of the stack holds it.
enum Word {
    Integer(u64),
    Float(u64),
}

impl Word {
    fn from_passed(passed: &Passed<'_>) -> Word {
        match passed {
            Passed::Buffer(operand) => Word::Integer(operand.address),
            Passed::Number(dtype @ (DType::F32 | DType::F64), bits) => {
                debug_assert!(*dtype == DType::F64 || *bits <= u32::MAX.into());
                Word::Float(*bits)
            }
            Passed::Number(dtype, bits) => Word::Integer(extended(*dtype, *bits)),
            Passed::Null => Word::Integer(0),
        }
    }
}

/// Returns an integer with the bits above its size that compilers expect: those of its sign.
pub(super) fn extended(dtype: DType, bits: u64) -> u64 {
    match dtype {
        DType::I8 => i64::from(bits as i8) as u64,
        DType::I16 => i64::from(bits as i16) as u64,
        DType::I32 => i64::from(bits as i32) as u64,
        _ => bits,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    static SEEN: Mutex<Vec<f64>> = Mutex::new(Vec::new());

    /// More integers and more floats than there are registers, alternating.
    #[allow(clippy::too_many_arguments)]
    extern "C-unwind" fn notes(
        i0: i8,
        f0: f32,
        i1: u8,
        f1: f64,
        i2: i16,
        f2: f32,
        i3: u16,
        f3: f64,
        i4: i32,
        f4: f32,
        i5: u32,
        f5: f64,
        i6: i64,
        f6: f32,
        i7: u64,
        f7: f64,
        i8: i8,
        f8: f32,
        i9: i32,
        f9: f64,
        stream: u64,
    ) {
        let integers = [i0.into(), i1.into(), i2.into(), i3.into(), i4.into(), i5.into()];
        let rest = [i6 as f64, i7 as f64, i8.into(), i9.into(), stream as f64];
        let singles = [f0, f2, f4, f6, f8].map(f64::from);
        let all = [&integers[..], &rest, &singles, &[f1, f3, f5, f7, f9]].concat();
        *SEEN.lock().unwrap() = all;
    }

    #[test]
    fn every_argument_arrives_where_the_function_looks_for_it() {
        let integer =
            |dtype: DType, value: i64| Passed::Number(dtype, value as u64 & (u64::MAX >> (64 - 8 * dtype.size())));
        let single = |value: f32| Passed::Number(DType::F32, value.to_bits().into());
        let double = |value: f64| Passed::Number(DType::F64, value.to_bits());
        let passed = [
            integer(DType::I8, -1),
            single(0.5),
            integer(DType::U8, 255),
            double(1.5),
            integer(DType::I16, -2),
            single(2.5),
            integer(DType::U16, 65_535),
            double(3.5),
            integer(DType::I32, -4),
            single(4.5),
            integer(DType::U32, 4_294_967_295),
            double(5.5),
            integer(DType::I64, -6),
            single(6.5),
            integer(DType::U64, 7),
            double(7.5),
            integer(DType::I8, -8),
            single(8.5),
            integer(DType::I32, -9),
            double(9.5),
        ];
        type Notes = extern "C-unwind" fn(
            i8,
            f32,
            u8,
            f64,
            i16,
            f32,
            u16,
            f64,
            i32,
            f32,
            u32,
            f64,
            i64,
            f32,
            u64,
            f64,
            i8,
            f32,
            i32,
            f64,
            u64,
        );
        // SAFETY: both are pointers to functions; the call below fits the real one.
        let function = unsafe { std::mem::transmute::<Notes, CFunction>(notes) };
        let call = Call::new(function, &passed, Some(77)).unwrap();
        // SAFETY: the arguments are those of the function.
        unsafe { call.call() };
        let integers = [
            -1.0,
            255.0,
            -2.0,
            65_535.0,
            -4.0,
            4_294_967_295.0,
            -6.0,
            7.0,
            -8.0,
            -9.0,
            77.0,
        ];
        let floats = [0.5, 2.5, 4.5, 6.5, 8.5, 1.5, 3.5, 5.5, 7.5, 9.5];
        assert_eq!(*SEEN.lock().unwrap(), [&integers[..], &floats].concat());
    }

    #[test]
    fn as_many_arguments_as_a_tuple_has_fit_with_a_stream() {
        extern "C-unwind" fn nothing() {}
        // SAFETY: both are pointers to functions, and this one is not called.
        let function = unsafe { std::mem::transmute::<extern "C-unwind" fn(), CFunction>(nothing) };
        for passed in [Passed::Null, Passed::Number(DType::F64, 0)] {
            let passed: Vec<Passed<'_>> = (0..32).map(|_| passed).collect();
            assert!(Call::new(function, &passed, Some(0)).is_ok());
        }
    }
}
