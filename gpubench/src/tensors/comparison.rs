//! How a benchmark's floating-point outputs are compared, if an output does not say it itself.

use crate::catalog::{DType, Tolerance};

/// The comparison that a benchmark or problem states.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Comparison {
    /// `exact` or `tolerance(..)`.
    Stated(Tolerance),
    /// Neither: the element type decides, and the number of terms that `reduction = ..` gives.
    OfType {
        /// Terms summed for one element, at least one.
        terms: u64,
    },
    /// There is no reference: a check judges all outputs.
    ByCheck,
}

impl Comparison {
    /// Returns the tolerance for a floating-point type.
    pub(crate) fn of(self, dtype: DType) -> Tolerance {
        match self {
            Comparison::Stated(tolerance) => tolerance,
            Comparison::OfType { terms } => default_tolerance(dtype, terms as f64),
            Comparison::ByCheck => Tolerance::ByCheck,
        }
    }
}

/// Rounding errors of a few operations on one element, in steps of the type that computes it.
const STEPS: f64 = 16.0;

/// Returns the tolerance of a type for a sum of `k` terms of size about 1.
///
/// Let e be the distance from 1 to the next number of the type that accumulates: `f64` for `f64`,
/// otherwise `f32`. In a sum of k terms, each addition rounds the partial sum with a standard
/// deviation of at most e/sqrt(12) of its size. For terms of one sign, the partial sums grow like
/// j/2, and five standard deviations of the total are e sqrt(k) of it, in round figures. For terms
/// of both signs, partial sums grow like sqrt(j), and the same bound is e k, whatever the total. A
/// kernel that adds in several threads stays below both. The result is then rounded to the type of
/// the output, with half a step of it, and so is the expected one.
fn default_tolerance(dtype: DType, k: f64) -> Tolerance {
    let single = f64::from(f32::EPSILON);
    // The last is the distance of the smallest numbers, where it is more than the rounding errors.
    let (step, accumulated, least) = match dtype {
        DType::F64 => (f64::EPSILON, f64::EPSILON, 0.0),
        DType::F16 => (2f64.powi(-10), single, 0.0),
        DType::BF16 => (2f64.powi(-7), single, 0.0),
        DType::F8E4M3 => (2f64.powi(-3), single, 2f64.powi(-9)),
        DType::F8E5M2 => (2f64.powi(-2), single, 2f64.powi(-16)),
        _ => (single, single, 0.0),
    };
    Tolerance::Default {
        rtol: two_digits(2.0 * step + (STEPS + k.sqrt()) * accumulated),
        atol: two_digits((STEPS + k) * accumulated + least),
    }
}

/// Rounds to two significant digits, so that messages and `tolerance(..)` can repeat the number.
fn two_digits(value: f64) -> f64 {
    format!("{value:.1e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds(dtype: DType, terms: u64) -> (f64, f64) {
        Comparison::OfType { terms }.of(dtype).bounds().expect("a tolerance")
    }

    #[test]
    fn a_default_tolerance_follows_from_the_type() {
        assert_eq!(bounds(DType::F32, 1), (2.3e-6, 2.0e-6));
        assert_eq!(bounds(DType::F64, 1), (4.2e-15, 3.8e-15));
        assert_eq!(bounds(DType::F16, 1), (2.0e-3, 2.0e-6));
        assert_eq!(bounds(DType::BF16, 1), (1.6e-2, 2.0e-6));
        assert_eq!(bounds(DType::F8E4M3, 1), (0.25, 2.0e-3));
        assert_eq!(bounds(DType::F8E5M2, 1), (0.5, 1.7e-5));
        assert_eq!(bounds(DType::Complex32, 1), bounds(DType::F32, 1));
    }

    #[test]
    fn a_reduction_widens_it() {
        assert_eq!(bounds(DType::F32, 1024), (6.0e-6, 1.2e-4));
        assert_eq!(bounds(DType::BF16, 4096), (1.6e-2, 4.9e-4));
    }

    #[test]
    fn a_stated_tolerance_is_kept() {
        let stated = Tolerance::Close { rtol: 0.5, atol: 0.0 };
        assert_eq!(Comparison::Stated(stated).of(DType::F32), stated);
    }

    #[test]
    fn sums_in_single_precision_stay_within_the_default() {
        let mut rng = crate::tensors::Rng::new(7);
        for terms in [16usize, 1_000, 20_000] {
            let (rtol, atol) = bounds(DType::F32, terms as u64);
            for _ in 0..200 {
                for low in [0.0, -1.0] {
                    let values: Vec<f32> = (0..terms).map(|_| rng.uniform(low, 1.0) as f32).collect();
                    let exact: f64 = values.iter().map(|&value| f64::from(value)).sum();
                    let got: f32 = values.iter().sum();
                    let error = (f64::from(got) - exact).abs();
                    assert!(
                        error <= atol + rtol * exact.abs(),
                        "{terms} terms: {got} is not {exact}"
                    );
                }
            }
        }
    }
}
