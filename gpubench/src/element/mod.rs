//! Element types of tensors: integers of 8 to 64 bits, floating-point types of 8 to 64 bits, and
//! complex numbers of two `f32`.

mod complex;
mod fp8;
mod half;
mod record;
mod shape;

pub use complex::Complex32;
pub use fp8::{F8E4M3, F8E5M2};
pub use half::{BF16, F16};
pub use record::{FieldType, RecordType, StructField, field, struct_elements};
pub(crate) use shape::elements;
pub use shape::{Extents, Shape};

use crate::catalog::{DType, Record};

/// The type of a tensor's elements: a [`Number`], or a struct of numbers with
/// [`#[derive(Element)]`](derive@crate::Element).
#[diagnostic::on_unimplemented(
    message = "a tensor cannot hold `{Self}`",
    note = "tensors hold u8, i8, u16, i16, u32, i32, u64, i64, F16, BF16, F8E4M3, F8E5M2, f32, f64 or Complex32, and structs of these with `#[derive(Element)]`"
)]
pub trait Element: Copy + 'static {
    /// The type's name in the catalog. Structs are bytes there, with a [`RECORD`](Element::RECORD).
    #[doc(hidden)]
    const DTYPE: DType;

    /// The fields, if it is a struct.
    #[doc(hidden)]
    const RECORD: Option<RecordType> = None;

    /// The type's name in CUDA C++, for kernels that are templates:
    /// `SCALE.kernel(format!("scale<{}>", T::CUDA_TYPE))`. Of a struct, its name in Rust.
    const CUDA_TYPE: &'static str;

    /// Returns a tensor shape with this element type and these extents, outermost first:
    /// `f32::shape([height, width, 3])`, `u32::shape(n)`.
    fn shape(extents: impl Extents) -> Shape
    where
        Self: Sized,
    {
        match Self::RECORD {
            None => Shape::new(Self::DTYPE, extents.extents()),
            Some(record) => Shape::of_structs(record, extents.extents()),
        }
    }

    #[doc(hidden)]
    fn of(elements: Elements<'_>) -> Option<&mut [Self]>
    where
        Self: Sized;
}

/// Returns the type's name in messages.
pub(crate) fn type_name<T: Element>() -> &'static str {
    T::RECORD.map_or(T::DTYPE.name(), |record| record.name)
}

/// An [`Element`](trait@Element) that is a number.
///
/// Implemented for `u8` to `u64`, `i8` to `i64`, `f32`, `f64`, [`F16`], [`BF16`], [`F8E4M3`],
/// [`F8E5M2`] and [`Complex32`]. Other crates cannot implement it.
///
/// Distributions fill both parts of a complex number, one by one.
///
/// Numbers of 4 bits are packed into `u8`, two in each. Fill them with `Bits`; the reference
/// unpacks them:
///
/// ```
/// /// Signed integers, the first in the lower half.
/// fn int4(packed: &[u8]) -> impl Iterator<Item = i8> {
///     packed.iter().flat_map(|&pair| [(pair << 4) as i8 >> 4, pair as i8 >> 4])
/// }
///
/// /// The 4-bit floats of OCP, E2M1: a sign and one of eight sizes.
/// fn fp4(packed: &[u8]) -> impl Iterator<Item = f32> {
///     const SIZES: [f32; 8] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];
///     let number = |bits: u8| if bits & 8 == 0 { SIZES[usize::from(bits)] } else { -SIZES[usize::from(bits & 7)] };
///     packed.iter().flat_map(move |&pair| [number(pair & 0xf), number(pair >> 4)])
/// }
///
/// assert_eq!(int4(&[0x7f, 0x82]).collect::<Vec<_>>(), [-1, 7, 2, -8]);
/// assert_eq!(fp4(&[0xf1, 0x06]).collect::<Vec<_>>(), [0.5, -6.0, 4.0, 0.0]);
/// ```
///
/// An output of packed numbers is compared byte by byte, so it is right or wrong. For a tolerance,
/// let the kernel write wider numbers.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a number",
    note = "numbers are u8, i8, u16, i16, u32, i32, u64, i64, F16, BF16, F8E4M3, F8E5M2, f32, f64 and Complex32",
    note = "`check = ..` does not judge structs: each field is compared by its own `#[tolerance(..)]`"
)]
pub trait Number: Element + sealed::Sealed {
    /// Returns the nearest number of the type. An integer type rounds toward zero, and takes its
    /// least or greatest number for what is beyond them, and 0 for a NaN. A complex number has no
    /// imaginary part.
    fn from_f64(value: f64) -> Self
    where
        Self: Sized;

    /// Returns the number as `f64`: of a complex number, the real part. Only 64-bit integers beyond
    /// 2^53 are rounded.
    fn to_f64(self) -> f64
    where
        Self: Sized;

    /// Whether it is NaN, or a part of it is.
    #[doc(hidden)]
    fn is_nan(self) -> bool
    where
        Self: Sized;

    /// Orders integers and complex numbers whose [`to_f64`](Number::to_f64) is equal. NaN comes
    /// last.
    #[doc(hidden)]
    fn order_of_equals(self, other: Self) -> std::cmp::Ordering
    where
        Self: Sized;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! elements {
    ($($variant:ident $type:ty, $name:literal, $cuda:literal, $from_f64:expr, $to_f64:expr;)*) => {
        /// A tensor's memory as a slice of its element type.
        #[doc(hidden)]
        pub enum Elements<'a> {
            $(#[allow(missing_docs)] $variant(&'a mut [$type]),)*
            /// The bytes of structs.
            Structs(&'a mut [u8], &'a Record),
        }

        impl Elements<'_> {
            /// Returns the name of the element type.
            #[doc(hidden)]
            pub fn type_name(&self) -> &str {
                match self {
                    $(Elements::$variant(_) => $name,)*
                    Elements::Structs(_, record) => &record.name,
                }
            }

            pub(crate) fn reborrow(&mut self) -> Elements<'_> {
                match self {
                    $(Elements::$variant(slice) => Elements::$variant(slice),)*
                    Elements::Structs(bytes, record) => Elements::Structs(bytes, record),
                }
            }
        }

        $(
            impl sealed::Sealed for $type {}
            impl Element for $type {
                const DTYPE: DType = DType::$variant;
                const CUDA_TYPE: &'static str = $cuda;

                fn of(elements: Elements<'_>) -> Option<&mut [Self]> {
                    match elements {
                        Elements::$variant(slice) => Some(slice),
                        _ => None,
                    }
                }
            }

            impl FieldType for $type {
                const DTYPE: DType = DType::$variant;
            }

            impl Number for $type {
                fn from_f64(value: f64) -> Self {
                    ($from_f64)(value)
                }

                fn to_f64(self) -> f64 {
                    ($to_f64)(self)
                }

                fn is_nan(self) -> bool {
                    self.partial_cmp(&self).is_none()
                }

                fn order_of_equals(self, other: Self) -> std::cmp::Ordering {
                    let by_nan = || Number::is_nan(self).cmp(&Number::is_nan(other));
                    self.partial_cmp(&other).unwrap_or_else(by_nan)
                }
            }
        )*

        impl DType {
            /// Returns the bytes of an element.
            pub const fn size(self) -> usize {
                match self {
                    $(DType::$variant => size_of::<$type>(),)*
                }
            }

            /// Returns the Rust type's name: `f32`, `u8`, `BF16`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(DType::$variant => $name,)*
                }
            }
        }
    };
}

elements! {
    U8 u8, "u8", "unsigned char", |value| value as u8, f64::from;
    I8 i8, "i8", "signed char", |value| value as i8, f64::from;
    U16 u16, "u16", "unsigned short", |value| value as u16, f64::from;
    I16 i16, "i16", "short", |value| value as i16, f64::from;
    U32 u32, "u32", "unsigned int", |value| value as u32, f64::from;
    I32 i32, "i32", "int", |value| value as i32, f64::from;
    U64 u64, "u64", "unsigned long long", |value| value as u64, |value| value as f64;
    I64 i64, "i64", "long long", |value| value as i64, |value| value as f64;
    F16 F16, "F16", "__half", F16::from_f64, f64::from;
    BF16 BF16, "BF16", "__nv_bfloat16", BF16::from_f64, f64::from;
    F32 f32, "f32", "float", |value| value as f32, f64::from;
    F64 f64, "f64", "double", |value| value, |value| value;
    F8E4M3 F8E4M3, "F8E4M3", "__nv_fp8_e4m3", F8E4M3::from_f64, f64::from;
    F8E5M2 F8E5M2, "F8E5M2", "__nv_fp8_e5m2", F8E5M2::from_f64, f64::from;
    Complex32 Complex32, "Complex32", "float2", |value| Complex32::new(value as f32, 0.0), |value: Complex32| value.re.into();
}

/// Returns the bits of an element of at most 8 bytes, zero-extended to 64.
#[doc(hidden)]
pub fn bits_of(element: &[u8]) -> u64 {
    let mut bits = [0; 8];
    bits[..element.len()].copy_from_slice(element);
    u64::from_le_bytes(bits)
}

impl DType {
    /// Returns the number with these bits. Integers above 2^53 are rounded. A complex number gives
    /// its real part.
    #[doc(hidden)]
    pub fn number(self, bits: u64) -> f64 {
        match self {
            DType::U8 => f64::from(bits as u8),
            DType::I8 => f64::from(bits as i8),
            DType::U16 => f64::from(bits as u16),
            DType::I16 => f64::from(bits as i16),
            DType::U32 => f64::from(bits as u32),
            DType::I32 => f64::from(bits as i32),
            DType::U64 => bits as f64,
            DType::I64 => bits as i64 as f64,
            DType::F8E4M3 => F8E4M3::from_bits(bits as u8).into(),
            DType::F8E5M2 => F8E5M2::from_bits(bits as u8).into(),
            DType::F16 => F16::from_bits(bits as u16).into(),
            DType::BF16 => BF16::from_bits(bits as u16).into(),
            DType::F32 | DType::Complex32 => f32::from_bits(bits as u32).into(),
            DType::F64 => f64::from_bits(bits),
        }
    }

    /// Returns whether elements are floating-point numbers, or complex numbers of two.
    pub const fn is_float(self) -> bool {
        use DType::{BF16, Complex32, F8E4M3, F8E5M2, F16, F32, F64};
        matches!(self, F8E4M3 | F8E5M2 | F16 | BF16 | F32 | F64 | Complex32)
    }

    /// Returns the type of the numbers that elements consist of, and how many an element has: two
    /// `f32` in a complex number, otherwise itself.
    pub const fn parts(self) -> (DType, usize) {
        match self {
            DType::Complex32 => (DType::F32, 2),
            real => (real, 1),
        }
    }

    /// Returns the largest range of integers that the type represents without gaps. For
    /// floating-point types, it ends at plus and minus two to the number of significant bits.
    pub(crate) const fn integer_range(self) -> (i128, i128) {
        match self {
            DType::U8 => (0, u8::MAX as i128),
            DType::I8 => (i8::MIN as i128, i8::MAX as i128),
            DType::U16 => (0, u16::MAX as i128),
            DType::I16 => (i16::MIN as i128, i16::MAX as i128),
            DType::U32 => (0, u32::MAX as i128),
            DType::I32 => (i32::MIN as i128, i32::MAX as i128),
            DType::U64 => (0, u64::MAX as i128),
            DType::I64 => (i64::MIN as i128, i64::MAX as i128),
            DType::F8E4M3 => (-(1 << 4), 1 << 4),
            DType::F8E5M2 => (-(1 << 3), 1 << 3),
            DType::F16 => (-(1 << 11), 1 << 11),
            DType::BF16 => (-(1 << 8), 1 << 8),
            DType::F32 | DType::Complex32 => (-(1 << 24), 1 << 24),
            DType::F64 => (-(1 << 53), 1 << 53),
        }
    }

    /// Returns the largest finite value of a floating-point type, or of the parts of a complex one.
    pub(crate) const fn largest(self) -> f64 {
        match self {
            DType::F16 => 65504.0,
            DType::BF16 => 3.389_531_389_251_535_5e38,
            DType::F8E4M3 => 448.0,
            DType::F8E5M2 => 57344.0,
            DType::F32 | DType::Complex32 => f32::MAX as f64,
            _ => f64::MAX,
        }
    }
}

impl std::fmt::Display for DType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
