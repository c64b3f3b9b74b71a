//! The Gaussian error linear unit, an activation function.

use crate::rounding::U;
use gpubench::prelude::*;
use std::f64::consts::{FRAC_1_SQRT_2, PI};

cuda_source!(REFERENCE = "references/gelu.cu");

/// The error of `0.5f * x * (1.0f + erff(x * 0.70710678f))` in units of `U`. The error function
/// turns the error of its argument, 2 for the constant and the product, into less than 1. Its own
/// is 2 ulp, that is 2, and that of the sum 1: 4 for the factor. Where `x` is positive, the factor
/// is at least 1, and two products and the rounding of the reference add 3.
const RTOL: f64 = 7.0 * U;

/// Where `x` is negative, the sum is exact, so the factor is off by 3, times half of `x`. That is
/// up to 6 from zero. Below, the error function is -1, perhaps off by 2, times up to 8.
const ATOL: f64 = 16.0 * U;

/// Returns the probability that a standard normal number is below `x`.
fn normal_distribution(x: f64) -> f64 {
    let z = x.abs() * FRAC_1_SQRT_2;
    let density = (-z * z).exp() / PI.sqrt();
    let above = if z < 2.5 {
        // The series of positive terms: 2 z (1 + 2 z² / 3 + (2 z²)² / (3 5) + ..).
        let (mut term, mut sum) = (2.0 * z, 2.0 * z);
        for odd in (3..120).step_by(2) {
            term *= 2.0 * z * z / f64::from(odd);
            sum += term;
        }
        0.5 - 0.5 * density * sum
    } else {
        // The continued fraction 1 / (z + (1 / 2) / (z + (2 / 2) / (z + ..))).
        let rest = (1..60).rev().fold(z, |rest, half| z + 0.5 * f64::from(half) / rest);
        0.5 * density / rest
    };
    if x < 0.0 { above } else { 1.0 - above }
}

/// Computes GELU for each element: `x` times the probability that a standard normal number is below
/// `x`, which is (1 + erf(x / √2)) / 2.
///
/// Elements have magnitudes from 2^-10 to 16. The approximation with a hyperbolic tangent is not
/// precise enough.
#[problem(
    axes(n = [1 << 26, 50_000_017]),
    cpu(axes(n = [1 << 14, 10_007])),
    cuda(reference = launch(in_double)),
    tolerance(rtol = RTOL, atol = ATOL),
    bytes = 8 * n,
    hidden(n = draw(1..20_000), count = 4),
    limits(time = "5s", source = "64 KiB"),
)]
pub fn gelu(
    n: usize,
    #[fill(ByKernel(REFERENCE.kernel("of_all_magnitudes")), n)] x: &[f32],
    #[shape(n)] y: &mut [f32],
) {
    for (&x, y) in x[..n].iter().zip(y) {
        *y = (f64::from(x) * normal_distribution(f64::from(x))) as f32;
    }
}

fn in_double(launcher: &mut Launcher, n: usize, x: In<f32>, y: Out<f32>) -> Result<()> {
    launcher.launch(REFERENCE.kernel("in_double"), Grid::covering(n, 128), (x, y, n))
}

#[cfg(test)]
mod tests {
    use super::{ATOL, RTOL, gelu, normal_distribution};
    use crate::shortcuts::{Tolerance, no_constant_passes};
    use gpubench::Rng;

    #[test]
    fn the_reference_is_right_to_all_digits_of_tables() {
        for (x, expected) in [
            (0.0, 0.5),
            (1.0, 0.841_344_746_068_542_9),
            (-2.0, 0.022_750_131_948_179_21),
            (-3.5, 2.326_290_790_355_25e-4),
            (-3.6, 1.591_085_901_575_339e-4),
            (-8.0, 6.220_960_574_271_785e-16),
        ] {
            let off = normal_distribution(x) / expected - 1.0;
            assert!(off.abs() < 1e-12, "{x}: off by {off}");
        }
        let mut y = [9.0; 3];
        gelu(3, &[0.0, 1.0, -16.0], &mut y);
        assert_eq!(y, [0.0, 0.841_344_8, 0.0]);
    }

    #[test]
    fn no_constant_answer_passes() {
        let mut rng = Rng::new(1);
        let x: Vec<f32> = (0..1000)
            .map(|_| {
                let magnitude = rng.uniform(-10.0, 4.0).exp2();
                (if rng.below(2) == 0 { magnitude } else { -magnitude }) as f32
            })
            .collect();
        let mut y = vec![0.0; 1000];
        gelu(1000, &x, &mut y);
        no_constant_passes(&y, Tolerance { rtol: RTOL, atol: ATOL });
    }
}
