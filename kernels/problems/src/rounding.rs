//! The error of single-precision arithmetic, from which the suite derives its tolerances.
//!
//! A correctly rounded operation returns the exact result times `1 + d` with `|d| <= U`. After `k`
//! such operations in a row, the factors multiply to `1 + e` with `|e| <= k U / (1 - k U)` (Higham,
//! *Accuracy and Stability of Numerical Algorithms*, lemma 3.1). To all digits that matter here,
//! that is `k U`.
//!
//! The bound is attained only if all errors have the same sign. For long sums of random terms it is
//! hundreds of times too wide, and arithmetic of lower precision would pass. [`random_sum`]
//! therefore treats the errors as independent.

/// The unit roundoff of `f32`: half the distance from 1 to the next larger number.
pub const U: f64 = f32::EPSILON as f64 / 2.0;

/// Returns a bound of the absolute error of a sum of `terms` products of independent random numbers
/// with mean zero, added in any order.
///
/// `scale` is the standard deviation of a product. After `j` additions the partial sum has a
/// standard deviation of `sqrt(j) scale`, so its rounding adds an error with a standard deviation
/// of at most `U sqrt(j) scale`. Over all additions that is `U scale terms / sqrt(2)`, for the
/// worst order: one term after another. Twelve standard deviations are never exceeded by chance,
/// even among billions of sums.
///
/// Rounding the factors to a format of 11 significant bits (TF32, half precision) has an error of
/// about `2^-12 sqrt(terms) scale`. That is far above the bound for up to a million terms.
pub fn random_sum(terms: usize, scale: f64) -> f64 {
    12.0 * U * scale * terms as f64 / std::f64::consts::SQRT_2
}

#[cfg(test)]
mod tests {
    use super::{U, random_sum};
    use gpubench::Rng;

    #[test]
    fn the_unit_roundoff_is_the_largest_number_lost_when_added_to_one() {
        assert_eq!(1.0f32 + U as f32, 1.0);
        assert!(1.0f32 + (1.001 * U) as f32 > 1.0);
    }

    #[test]
    fn sums_in_single_precision_stay_within_the_bound_and_inputs_of_half_the_precision_do_not() {
        const TERMS: usize = 1024;
        let mut rng = Rng::new(3);
        let mut largest = (0.0f64, 0.0f64);
        for _ in 0..200 {
            let (mut single, mut half, mut exact) = (0.0f32, 0.0f64, 0.0f64);
            for _ in 0..TERMS {
                let (a, b) = (rng.uniform(-1.0, 1.0) as f32, rng.uniform(-1.0, 1.0) as f32);
                single += a * b;
                half += f64::from(eleven_bits(a)) * f64::from(eleven_bits(b));
                exact += f64::from(a) * f64::from(b);
            }
            largest.0 = largest.0.max((f64::from(single) - exact).abs());
            largest.1 = largest.1.max((half - exact).abs());
        }
        let bound = random_sum(TERMS, 1.0 / 3.0);
        assert!(largest.0 < bound / 2.0, "{} of {bound}", largest.0);
        assert!(largest.1 > 10.0 * bound, "{} of {bound}", largest.1);
    }

    /// Rounded to 11 significant bits.
    fn eleven_bits(value: f32) -> f32 {
        f32::from_bits((value.to_bits() + (1 << 12)) & !((1 << 13) - 1))
    }
}
