//! Softmax of every row of a matrix.

use crate::rounding::U;
use gpubench::prelude::*;

cuda_source!(SOFTMAX = "softmax.cu");
cuda_source!(SOFTMAX_REFERENCE = "references/softmax.cu");

/// Logits of a model that is confident in some rows. With a standard deviation of 3 the largest
/// probability of a row is around a tenth, the smallest below 1e-10. With this mean, exponentials
/// overflow unless they are shifted.
const LOGITS: Normal = Normal {
    mean: 100.0,
    stddev: 3.0,
};

/// The error of the quotient, in units of `U`:
///
/// - The difference between a logit and the largest one is at most 30, and rounds once: 30. The
///   exponential turns this absolute error into a relative one.
/// - `expf`: at most 2 ulp, that is 4. Both errors count twice, for the numerator and for the terms
///   of the sum: 68.
/// - The sum: up to 32 sequential terms per thread, then five halvings and eight warps: 45. All
///   terms are positive.
/// - Rescaling in the online kernel: the factors multiply to one exponential of at most 30, with
///   one `expf` for each of the few times that a larger logit occurs: 30 + 4 * 20.
/// - The quotient and the rounding of the reference: 2, and twice that for a division that is not
///   correctly rounded.
///
/// The worst case is 227.
const RTOL: f64 = 227.0 * U;

fn in_double(launcher: &mut Launcher, rows: usize, columns: usize, x: In<f32>, y: Out<f32>) -> Result<()> {
    launcher.launch(
        SOFTMAX_REFERENCE.kernel("in_double"),
        Grid::new(rows, 64),
        (x, y, columns),
    )
}

/// Computes the softmax of every row of a matrix: the exponentials of its elements, divided by
/// their sum.
///
/// `y[r][c]` is `exp(x[r][c])` divided by the sum of `exp(x[r][j])` over all columns j of the row.
/// Rows follow each other. Elements are normally distributed with a mean of 100 and a standard
/// deviation of 3, and `exp(100)` is more than an `f32` holds: shift the exponents.
///
/// The tolerance is relative, so small probabilities have to be right too. It is for `expf` of 2
/// ulp, any shift of the exponents by an element of the row, and sums in `f32`, whose terms are all
/// positive. The fast `__expf` may be too rough.
#[problem(
    axes(rows = [16384], columns = [1024, 999]),
    cpu(axes(rows = [32], columns = [512, 333])),
    cuda(reference = launch(in_double)),
    tolerance(rtol = RTOL),
    bytes = 8 * rows * columns,
    flops = rows * (5 * columns - 2),
    hidden(columns = draw(1..=700), count = 5),
    limits(time = "10s", source = "64 KiB"),
)]
pub fn softmax(
    rows: usize,
    columns: usize,
    #[fill(LOGITS, [rows, columns])] x: &[f32],
    #[shape([rows, columns])] y: &mut [f32],
) {
    for (x, y) in x.chunks_exact(columns).zip(y.chunks_exact_mut(columns)).take(rows) {
        let largest = f64::from(x.iter().copied().fold(f32::MIN, f32::max));
        let exponential = |x: &f32| (f64::from(*x) - largest).exp();
        let sum: f64 = x.iter().map(exponential).sum();
        for (x, y) in x.iter().zip(y) {
            *y = (exponential(x) / sum) as f32;
        }
    }
}

#[gpubench(problem = softmax)]
fn three_passes(launcher: &mut Launcher, rows: usize, columns: usize, x: In<f32>, y: Out<f32>) -> Result<()> {
    launcher.launch(
        SOFTMAX.kernel("three_passes<256>"),
        Grid::new(rows, 256),
        (x, y, columns),
    )
}

#[gpubench(problem = softmax)]
fn online(launcher: &mut Launcher, rows: usize, columns: usize, x: In<f32>, y: Out<f32>) -> Result<()> {
    // Eight warps per block, one row per warp.
    let grid = Grid::new(rows.div_ceil(8), (32, 8));
    launcher.launch(SOFTMAX.kernel("online"), grid, (x, y, rows, columns))
}

#[cfg(test)]
mod tests {
    use super::{LOGITS, RTOL, softmax};
    use crate::shortcuts::{Tolerance, no_constant_passes};
    use gpubench::Rng;

    #[test]
    fn the_reference_makes_rows_of_probabilities() {
        let mut y = [0.0; 4];
        softmax(2, 2, &[0.0, 3.0f32.ln(), 5.0, 5.0], &mut y);
        let off = y
            .iter()
            .zip([0.25, 0.75, 0.5, 0.5])
            .map(|(y, expected)| (y - expected).abs());
        assert!(off.fold(0.0, f32::max) < 1e-6, "{y:?}");
    }

    #[test]
    fn large_logits_do_not_overflow() {
        let mut y = [0.0; 2];
        softmax(1, 2, &[1000.0, 0.0], &mut y);
        assert_eq!(y, [1.0, 0.0]);
    }

    #[test]
    fn no_constant_answer_passes() {
        let mut rng = Rng::new(1);
        let x: Vec<f32> = (0..4000)
            .map(|_| (LOGITS.mean + LOGITS.stddev * rng.normal()) as f32)
            .collect();
        let mut y = vec![0.0; x.len()];
        softmax(10, 400, &x, &mut y);
        no_constant_passes(&y, Tolerance { rtol: RTOL, atol: 0.0 });
    }
}
