//! Complex numbers.

use std::fmt;
use std::ops::{Add, Mul, Neg, Sub};

/// A complex number of two `f32`. CUDA's `float2`, `cuComplex` and `cuFloatComplex`.
///
/// An output is compared by the distance in the plane, |got - expected|, not part by part: after a
/// cancellation a part can be small and its error that of the other. The relative tolerance is of
/// |expected|. A number with a NaN in either part is NaN, and one with an infinite part is
/// infinite.
///
/// Numbers are ordered by their real parts, then by their imaginary parts.
#[derive(Clone, Copy, Default, PartialEq, PartialOrd)]
#[repr(C)]
pub struct Complex32 {
    /// Real part: CUDA's `x`.
    pub re: f32,
    /// Imaginary part: CUDA's `y`.
    pub im: f32,
}

impl Complex32 {
    /// Returns the number with these parts.
    pub const fn new(re: f32, im: f32) -> Complex32 {
        Complex32 { re, im }
    }

    /// Returns the number with the opposite imaginary part.
    pub fn conj(self) -> Complex32 {
        Complex32::new(self.re, -self.im)
    }

    /// Returns the distance from zero.
    pub fn norm(self) -> f32 {
        self.re.hypot(self.im)
    }
}

impl Add for Complex32 {
    type Output = Complex32;

    fn add(self, other: Complex32) -> Complex32 {
        Complex32::new(self.re + other.re, self.im + other.im)
    }
}

impl Sub for Complex32 {
    type Output = Complex32;

    fn sub(self, other: Complex32) -> Complex32 {
        Complex32::new(self.re - other.re, self.im - other.im)
    }
}

impl Mul for Complex32 {
    type Output = Complex32;

    fn mul(self, other: Complex32) -> Complex32 {
        Complex32::new(
            self.re * other.re - self.im * other.im,
            self.re * other.im + self.im * other.re,
        )
    }
}

impl Neg for Complex32 {
    type Output = Complex32;

    fn neg(self) -> Complex32 {
        Complex32::new(-self.re, -self.im)
    }
}

impl From<f32> for Complex32 {
    fn from(re: f32) -> Complex32 {
        Complex32::new(re, 0.0)
    }
}

impl fmt::Display for Complex32 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}{:+?}i", self.re, self.im)
    }
}

impl fmt::Debug for Complex32 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_multiply_and_show_both_parts() {
        let (z, i) = (Complex32::new(1.5, -2.0), Complex32::new(0.0, 1.0));
        assert_eq!(z * i, Complex32::new(2.0, 1.5));
        assert_eq!((z * z.conj()).re, z.norm() * z.norm());
        assert_eq!(z + -z, z - z);
        assert_eq!(
            (z.to_string(), (z * i).to_string()),
            ("1.5-2.0i".to_owned(), "2.0+1.5i".to_owned())
        );
        assert_eq!(Complex32::new(f32::NAN, f32::INFINITY).to_string(), "NaN+infi");
        assert_ne!(Complex32::new(0.0, f32::NAN), Complex32::new(0.0, f32::NAN));
    }

    #[test]
    fn numbers_have_the_layout_of_two_floats() {
        assert_eq!((size_of::<Complex32>(), std::mem::offset_of!(Complex32, im)), (8, 4));
    }
}
