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
        let words = passed.iter().map(Word::of).chain(stream.map(Word::Integer));
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
    fn of(passed: &Passed<'_>) -> Word {
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
