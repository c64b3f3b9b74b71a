//! What tensors hold before a call.

use crate::catalog::{DType, Fill};
use crate::error::{Error, Result};
use crate::source::Kernel;
use std::ops::{Range, RangeInclusive};

/// Floating-point numbers drawn uniformly from a range that excludes its end: `Uniform(0.0..1.0)`.
///
/// Of 2^16 equally spaced numbers for types of 16 bits, 2^23 for `f32` and 2^52 for `f64`, from the
/// start of the range on, rounded to the type. Where rounding would take the last of them out of
/// the range, they are that much closer to one another.
#[derive(Clone, Debug, PartialEq)]
pub struct Uniform(pub Range<f64>);

/// Floating-point numbers drawn from a normal distribution: `Normal { mean: 0.0, stddev: 1.0 }`.
///
/// For `f32` and `f64` quantiles of uniform numbers of 32 bits (the rest of a double is filled up
/// with random bits), to 0.0018 standard deviations, none beyond 5.5. For types of 16 bits sums of
/// 16 uniform numbers, eight times the same with other signs, so that they are not correlated: the
/// distribution function is a normal one's to 0.002, and the density to 2 % up to 2.5 standard
/// deviations; 0.22 % are beyond 3, where it should be 0.27 %, 0.003 % beyond 4, where it should be
/// 0.006 %, and none beyond 6.9.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Normal {
    /// Mean.
    pub mean: f64,
    /// Standard deviation, at least zero.
    pub stddev: f64,
}

/// Integers drawn uniformly from a range: `Integers(0..bins)`, `Integers(-8..=8)`. Also for
/// floating-point tensors, whose values are then whole.
///
/// Values are equally likely where their number is a power of two. Else their probability is off,
/// of itself, by 2^-8 at most; for types of 8 bits by 3 %, and for types of 64 bits with more than
/// 2^56 by their number over 2^64.
///
/// Some elements share the bits they are drawn from with the one next to them: those of 32 bits
/// with more than 2^16 values, of 16 bits with 257 to 4097, and of 8 bits. That two values come
/// together is then as likely as that any other two do, to 1 %; for 8 bits a pair has a whole
/// number of 65536 draws, of 100 values 5 to 8, of 255 values 1 to 3.
#[derive(Clone, Debug, PartialEq)]
pub struct Integers<R>(pub R);

/// Any value of an integer type, each equally likely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bits;

/// Written by a kernel of the crate: `ByKernel(GENERATORS.kernel("ramp"))`.
///
/// The kernel's parameters are `(T *out, size_t len, unsigned long long seed)`. It is launched over
/// at least `len` threads along x and must write `out[0..len]`, from `seed` and the index alone. It
/// stands in a file that the benchmark launches no kernel from: on a GPU the referee runs it, and
/// refuses the case otherwise.
#[derive(Clone, Debug)]
pub struct ByKernel(pub Kernel);

/// Written by the function given to [`Tensors::generate`](super::Tensors::generate).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByCpu;

/// How a tensor is filled: [`Uniform`], [`Normal`], [`Integers`], [`Bits`], [`ByKernel`] or
/// [`ByCpu`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say how to fill a tensor",
    note = "a tensor is filled by `Uniform(0.0..1.0)`, `Normal {{ mean, stddev }}`, `Integers(0..n)`, `Bits`, `ByKernel(..)` or `ByCpu`"
)]
pub trait IntoFill {
    #[doc(hidden)]
    fn into_fill(self) -> DeclaredFill;
}

/// A fill whose kernel has not been looked up in the catalog.
#[doc(hidden)]
#[derive(Debug)]
pub enum DeclaredFill {
    Plain(Fill),
    Kernel(Kernel),
}

impl IntoFill for Uniform {
    fn into_fill(self) -> DeclaredFill {
        DeclaredFill::Plain(Fill::Uniform {
            low: self.0.start,
            high: self.0.end,
        })
    }
}

impl IntoFill for Normal {
    fn into_fill(self) -> DeclaredFill {
        DeclaredFill::Plain(Fill::Normal {
            mean: self.mean,
            stddev: self.stddev,
        })
    }
}

/// An integer that bounds a range of [`Integers`].
pub trait Bound: Copy {
    #[doc(hidden)]
    fn widen(self) -> i128;
}

macro_rules! bounds {
    ($($integer:ident)*) => {$(
        impl Bound for $integer {
            fn widen(self) -> i128 {
                self as i128
            }
        }
    )*};
}

bounds!(u8 u16 u32 u64 usize i8 i16 i32 i64 isize i128);

impl<T: Bound> IntoFill for Integers<Range<T>> {
    fn into_fill(self) -> DeclaredFill {
        DeclaredFill::Plain(Fill::Integers {
            low: self.0.start.widen(),
            high: self.0.end.widen(),
        })
    }
}

impl<T: Bound> IntoFill for Integers<RangeInclusive<T>> {
    fn into_fill(self) -> DeclaredFill {
        let high = self.0.end().widen().saturating_add(1);
        DeclaredFill::Plain(Fill::Integers {
            low: self.0.start().widen(),
            high,
        })
    }
}

impl IntoFill for Bits {
    fn into_fill(self) -> DeclaredFill {
        DeclaredFill::Plain(Fill::Bits)
    }
}

impl IntoFill for ByCpu {
    fn into_fill(self) -> DeclaredFill {
        DeclaredFill::Plain(Fill::Cpu)
    }
}

impl IntoFill for ByKernel {
    fn into_fill(self) -> DeclaredFill {
        DeclaredFill::Kernel(self.0)
    }
}

/// Whether elements of `dtype` can be filled so.
pub(crate) fn check_fill(fill: &Fill, dtype: DType) -> Result<()> {
    match *fill {
        Fill::Uniform { .. } | Fill::Normal { .. } if !dtype.is_float() => Err(Error::new(format!(
            "{dtype} elements cannot be filled with floating-point numbers: use `Integers(..)` or `Bits`"
        ))),
        Fill::Uniform { low, high } => {
            let largest = dtype.largest();
            // The comparison is false for a NaN.
            if !(low < high && low >= -largest && high <= largest) {
                return Err(Error::new(format!(
                    "`Uniform({low}..{high})` is not a range of {dtype} values"
                )));
            }
            Ok(())
        }
        Fill::Normal { mean, stddev } => {
            let possible = mean.is_finite() && stddev.is_finite() && stddev >= 0.0;
            possible.then_some(()).ok_or_else(|| {
                Error::new(format!(
                    "`Normal` with mean {mean} and standard deviation {stddev} is not a distribution"
                ))
            })
        }
        Fill::Integers { low, high } => {
            let (smallest, largest) = dtype.integer_range();
            if !(low < high && low >= smallest && high - 1 <= largest) {
                return Err(Error::new(format!(
                    "`Integers({low}..{high})` is not a range of integers from {smallest} to {largest}, which {dtype} holds exactly"
                )));
            }
            Ok(())
        }
        Fill::Bits if dtype.is_float() => Err(Error::new(format!(
            "`Bits` is for integers, and {dtype} is not one: most bit patterns would make poor numbers"
        ))),
        Fill::Bits | Fill::Poison | Fill::Kernel(_) | Fill::Cpu => Ok(()),
    }
}
