//! Layer normalisation: shifts every row to mean 0, scales it to variance 1, then applies a gain
//! and a bias to each column.

use crate::rounding::U;
use gpubench::prelude::*;

cuda_source!(LAYER_NORM = "layer_norm.cu");
cuda_source!(LAYER_NORM_REFERENCE = "references/layer_norm.cu");

/// Added to the variance. In the rows with the smallest variance it makes a difference of one part
/// in 100.
const EPSILON: f32 = 1e-4;

/// Each row is uniform around its mean. In units of its standard deviation, elements are at most
/// `sqrt(3)` from the mean, and the mean is at most 4 from zero, so elements are below 6. Errors
/// below are in units of `U` times the standard deviation. A sum has 16 additions, sequential or
/// pairwise:
///
/// - mean: 16 additions and a division of numbers below 6: 17 * 6 = 102;
/// - difference of an element and the mean: 102, and 2 for rounding the difference; the error of
///   the variance hardly grows, because it has the square of the mean's error;
/// - scale: half the variance's relative error, which is 16 additions, a division and twice the
///   rounding of a difference, and 2 ulp of `rsqrtf`: 16 / 2 + 4 + 4 = 16, times a difference of
///   1.8: 29;
/// - gain up to 1.5, product and sum: 1.5 * (102 + 2 + 29 + 2) + 4 = 207.
const ATOL: f64 = 207.0 * U;

/// Rows with different offsets and scales: scales from a tenth to ten, means up to four standard
/// deviations from zero. So no row can replace another.
fn activations(columns: usize) -> ByKernel {
    ByKernel(LAYER_NORM_REFERENCE.kernel(format!("rows_apart<{columns}>")))
}

/// Normalises every row of a matrix.
///
/// `y[r][c]` is `(x[r][c] - mean) / sqrt(variance + 1e-4) * gain[c] + bias[c]`, with the mean and
/// the variance of row r. The variance is the mean of the squared distances to the mean, so it is
/// divided by the number of columns. Rows follow each other.
///
/// Rows differ: standard deviations are from a tenth to ten, and means up to four of them from
/// zero. The tolerance is for sums in `f32` of up to 17 additions in a row, such as those of 256
/// threads and a tree. The difference of the mean of squares and the square of the mean is too
/// rough in some rows.
#[problem(
    axes(rows = [8192], columns = [1024, 999]),
    cpu(axes(rows = [32], columns = [512, 333])),
    cuda(reference = launch(in_double)),
    tolerance(atol = ATOL),
    bytes = 8 * rows * columns + 8 * columns,
    flops = 8 * rows * columns,
    hidden(columns = draw(64..=700), count = 5),
    limits(time = "10s", source = "64 KiB"),
)]
pub fn layernorm(
    rows: usize,
    columns: usize,
    #[fill(activations(columns), [rows, columns])] x: &[f32],
    #[fill(Uniform(0.5..1.5), columns)] gain: &[f32],
    #[fill(Uniform(-1.0..1.0), columns)] bias: &[f32],
    #[shape([rows, columns])] y: &mut [f32],
) {
    let count = columns as f64;
    for (x, y) in x.chunks_exact(columns).zip(y.chunks_exact_mut(columns)).take(rows) {
        let mean = x.iter().map(|&x| f64::from(x)).sum::<f64>() / count;
        let variance = x.iter().map(|&x| (f64::from(x) - mean).powi(2)).sum::<f64>() / count;
        let scale = 1.0 / (variance + f64::from(EPSILON)).sqrt();
        for (((x, y), gain), bias) in x.iter().zip(y).zip(gain).zip(bias) {
            *y = ((f64::from(*x) - mean) * scale * f64::from(*gain) + f64::from(*bias)) as f32;
        }
    }
}

fn in_double(
    launcher: &mut Launcher,
    rows: usize,
    columns: usize,
    x: In<f32>,
    gain: In<f32>,
    bias: In<f32>,
    y: Out<f32>,
) -> Result<()> {
    let kernel = LAYER_NORM_REFERENCE.kernel("in_double");
    launcher.launch(kernel, Grid::new(rows, 64), (x, gain, bias, y, columns, EPSILON))
}

#[gpubench(problem = layernorm)]
fn layer_norm(
    launcher: &mut Launcher,
    rows: usize,
    columns: usize,
    x: In<f32>,
    gain: In<f32>,
    bias: In<f32>,
    y: Out<f32>,
) -> Result<()> {
    let kernel = LAYER_NORM.kernel("layer_norm<256>");
    launcher.launch(kernel, Grid::new(rows, 256), (x, gain, bias, y, columns, EPSILON))
}

#[cfg(test)]
mod tests {
    use super::{ATOL, layernorm};
    use crate::shortcuts::{Tolerance, no_constant_passes};
    use gpubench::Rng;

    /// Rows as the kernel `rows_apart` fills them.
    fn fill_rows(rng: &mut Rng, columns: usize, x: &mut [f32]) {
        for row in x.chunks_exact_mut(columns) {
            let deviation = 10f64.powf(rng.uniform(-1.0, 1.0));
            let mean = deviation * rng.uniform(-4.0, 4.0);
            // A uniform distribution over an interval of length `sqrt(12)` has variance 1.
            let width = deviation * 12f64.sqrt();
            row.fill_with(|| (mean + width * (rng.f64() - 0.5)) as f32);
        }
    }

    #[test]
    fn the_reference_normalises_each_row() {
        let mut y = [0.0; 4];
        layernorm(2, 2, &[-100.0, 100.0, 3000.0, 1000.0], &[1.0, 2.0], &[0.0, 0.5], &mut y);
        assert_eq!(y, [-1.0, 2.5, 1.0, -1.5]);
    }

    #[test]
    fn generated_rows_have_the_moments_that_the_tolerance_assumes() {
        const COLUMNS: usize = 512;
        let mut x = vec![0.0; 64 * COLUMNS];
        fill_rows(&mut Rng::new(1), COLUMNS, &mut x);
        for row in x.chunks_exact(COLUMNS) {
            let mean = row.iter().map(|&x| f64::from(x)).sum::<f64>() / COLUMNS as f64;
            let variance = row.iter().map(|&x| (f64::from(x) - mean).powi(2)).sum::<f64>() / COLUMNS as f64;
            let deviation = variance.sqrt();
            assert!((0.09..11.0).contains(&deviation), "{deviation}");
            assert!(mean.abs() < 4.5 * deviation, "{mean} {deviation}");
        }
    }

    #[test]
    fn no_constant_answer_passes() {
        let mut rng = Rng::new(1);
        let mut x = vec![0.0; 4000];
        fill_rows(&mut rng, 400, &mut x);
        let gain: Vec<f32> = (0..400).map(|_| rng.uniform(0.5, 1.5) as f32).collect();
        let bias: Vec<f32> = (0..400).map(|_| rng.uniform(-1.0, 1.0) as f32).collect();
        let mut y = vec![0.0; 4000];
        layernorm(10, 400, &x, &gain, &bias, &mut y);
        no_constant_passes(&y, Tolerance { rtol: 0.0, atol: ATOL });
    }
}
