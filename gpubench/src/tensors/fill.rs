//! The contents of tensors before a call.

use super::stored::FileFill;
use crate::catalog::{DType, Fill};
use crate::error::{Error, Result};
use crate::source::Kernel;
use std::ops::{Range, RangeInclusive};

/// Floating-point numbers, uniformly distributed over a half-open range: `Uniform(0.0..1.0)`.
///
/// The values are equally spaced from the start of the range and rounded to the type: 2^16 values
/// for 16-bit types, 2^23 for `f32` and 2^52 for `f64`. If rounding would move the last value out
/// of the range, the spacing is reduced.
#[derive(Clone, Debug, PartialEq)]
pub struct Uniform(pub Range<f64>);

/// Normally distributed floating-point numbers: `Normal { mean: 0.0, stddev: 1.0 }`.
///
/// For `f32` and `f64`, the tool computes quantiles of uniform 32-bit numbers, with an error of up
/// to 0.0018 standard deviations. No value is beyond 5.5 standard deviations. The remaining bits of
/// an `f64` are random.
///
/// For 16-bit types, each value is a sum of 16 uniform numbers. The same numbers are used eight
/// times with different signs, which keeps the sums uncorrelated. The distribution function is
/// accurate to 0.002. Up to 2.5 standard deviations, the density is accurate to 2 %. Of the values,
/// 0.22 % are beyond 3 standard deviations (exact: 0.27 %), 0.003 % are beyond 4 (exact: 0.006 %),
/// and none are beyond 6.9.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Normal {
    /// Mean.
    pub mean: f64,
    /// Standard deviation, at least zero.
    pub stddev: f64,
}

/// Integers, uniformly distributed over a range: `Integers(0..bins)`, `Integers(-8..=8)`. It also
/// fills floating-point tensors, with whole numbers.
///
/// If the number of values is a power of two, all values are equally likely. Otherwise, their
/// probabilities have a relative error. It is at most 2^-8, with two exceptions: 3 % for 8-bit
/// types, and the number of values divided by 2^64 for 64-bit types with more than 2^56 values.
///
/// Some neighbouring elements share random bits: 32-bit elements with more than 2^16 values, 16-bit
/// elements with 257 to 4097 values, and 8-bit elements. All pairs of values are still equally
/// likely, to within 1 %. Pairs of 8-bit elements are less even: of 65536 equally likely draws,
/// each pair gets 5 to 8 with 100 values, and 1 to 3 with 255 values.
#[derive(Clone, Debug, PartialEq)]
pub struct Integers<R>(pub R);

/// All values of an integer type, uniformly distributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bits;

/// A kernel of the crate fills the tensor: `ByKernel(GENERATORS.kernel("ramp"))`.
///
/// The kernel's parameters are `(T *out, size_t len, unsigned long long seed)`. It is launched with
/// at least `len` threads along x. It must write `out[0..len]`, and compute each element from
/// nothing but `seed` and the index. Put it in a separate file. If the benchmark launches a kernel
/// from the same file, the tool rejects the case on a GPU: no kernel under test may run in the
/// process that fills the inputs.
#[derive(Clone, Debug)]
pub struct ByKernel(pub Kernel);

/// The function given to [`Tensors::generate`](super::Tensors::generate) fills the tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByCpu;

/// A way to fill a tensor: [`Uniform`], [`Normal`], [`Integers`], [`Bits`], [`ByKernel`], [`ByCpu`]
/// or a [`FileFill`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a way to fill a tensor",
    note = "fill a tensor with `Uniform(0.0..1.0)`, `Normal {{ mean, stddev }}`, `Integers(0..n)`, `Bits`, `ByKernel(..)` or `ByCpu`",
    note = "a tensor of a file needs a rule for each call: `FILE.tensor(\"w\").scaled(0.9..1.1)`"
)]
pub trait IntoFill {
    #[doc(hidden)]
    fn into_fill(self) -> DeclaredFill;
}

/// A fill before its kernel is resolved to a catalog entry.
#[doc(hidden)]
#[derive(Debug)]
pub enum DeclaredFill {
    Plain(Fill),
    Kernel(Kernel),
    File(FileFill),
}

impl Normal {
    /// Mean 0, standard deviation 1.
    pub const STANDARD: Normal = Normal { mean: 0.0, stddev: 1.0 };
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

/// The type of a bound of [`Integers`].
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

/// Checks that the fill can produce elements of `dtype`.
pub(crate) fn check_fill(fill: &Fill, dtype: DType) -> Result<()> {
    match *fill {
        Fill::Uniform { .. } | Fill::Normal { .. } if !dtype.is_float() => Err(Error::new(format!(
            "{dtype} elements cannot be filled with floating-point numbers: use `Integers(..)` or `Bits`"
        ))),
        Fill::Uniform { low, high } => {
            let largest = dtype.largest();
            // False for a NaN as well.
            if !(low < high && low >= -largest && high <= largest) {
                return Err(Error::new(format!(
                    "`Uniform({low}..{high})` is empty, or not within the range of {dtype}"
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
                    "`Integers({low}..{high})` is not a valid range: {dtype} holds the integers from {smallest} to {largest} exactly"
                )));
            }
            Ok(())
        }
        Fill::Bits if dtype.is_float() => Err(Error::new(format!(
            "`Bits` is for integers, not for {dtype}: most of its bit patterns are poor inputs"
        ))),
        Fill::Bits | Fill::Poison | Fill::Kernel(_) | Fill::Cpu | Fill::Stored => Ok(()),
    }
}
