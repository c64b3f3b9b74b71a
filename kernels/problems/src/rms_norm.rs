//! RMS normalisation: scales every row to a mean square of 1, then applies a gain to each column.

use crate::rounding::U;
use gpubench::prelude::*;

cuda_source!(REFERENCE = "references/rms_norm.cu");

/// Added to the mean square. In the rows with the smallest numbers, it is twice as large as that.
const EPSILON: f32 = 1e-5;

/// The relative error of an element of a row of 4096, in units of `U`.
///
/// The squares of a row are positive, so partial sums grow evenly. The rounding of the j-th
/// addition has a standard deviation of at most `j / sqrt(3)` mean squares, and all together
/// `sqrt(4096) / 3` of the sum: 21. Twelve of these standard deviations are 256, of which the
/// root keeps half: 128. The squares, the mean, the root and its reciprocal, two products and the
/// rounding of the reference add 1, 1, 3, 2 and 1: 136.
const RTOL: f64 = 136.0 * U;

/// Computes y = x / √(mean of the squares of the row + 1e-5), times the gain of the column.
///
/// Rows differ in their scale, from 2^-8 to 2^8. Sums are in single precision or better, in any
/// order.
#[problem(
    axes(rows = [8192], columns = [4096, 3999]),
    cpu(axes(rows = [32], columns = [512, 333])),
    cuda(reference = launch(in_double)),
    tolerance(rtol = RTOL),
    bytes = 8 * rows * columns + 4 * columns,
    flops = 4 * rows * columns,
    hidden(rows = draw(1..60), columns = [1, 100, 777], count = 2),
    limits(time = "5s", source = "64 KiB"),
)]
pub fn rms_norm(
    rows: usize,
    columns: usize,
    #[fill(ByKernel(REFERENCE.kernel(format!("rows_apart<{columns}>"))), [rows, columns])] x: &[f32],
    #[fill(Uniform(0.5..1.5), columns)] gain: &[f32],
    #[shape([rows, columns])] y: &mut [f32],
) {
    for row in 0..rows {
        let (x, y) = (&x[row * columns..][..columns], &mut y[row * columns..][..columns]);
        let squares = x.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>();
        let scale = 1.0 / (squares / columns as f64 + f64::from(EPSILON)).sqrt();
        for ((&x, y), &gain) in x.iter().zip(y).zip(gain) {
            *y = (f64::from(x) * scale * f64::from(gain)) as f32;
        }
    }
}

fn in_double(
    launcher: &mut Launcher,
    rows: usize,
    columns: usize,
    x: In<f32>,
    gain: In<f32>,
    y: Out<f32>,
) -> Result<()> {
    launcher.launch(
        REFERENCE.kernel("in_double"),
        Grid::new(rows, 64),
        (x, gain, y, columns),
    )
}

#[cfg(test)]
mod tests {
    use super::{RTOL, rms_norm};
    use crate::shortcuts::{Tolerance, no_constant_passes};
    use gpubench::Rng;

    fn rows(rng: &mut Rng, rows: usize, columns: usize) -> Vec<f32> {
        (0..rows)
            .flat_map(|_| {
                let scale = rng.uniform(-8.0, 8.0).exp2();
                (0..columns)
                    .map(|_| (scale * rng.uniform(-1.0, 1.0)) as f32)
                    .collect::<Vec<_>>()
            })
            .collect()
    }

    #[test]
    fn the_reference_scales_each_row() {
        let mut y = [0.0; 4];
        rms_norm(2, 2, &[300.0, -400.0, 7e5, 7e5], &[1.0, 2.0], &mut y);
        let root = 12.5f32.sqrt();
        assert_eq!(y, [3.0 / root, -8.0 / root, 1.0, 2.0]);
    }

    #[test]
    fn the_smallest_rows_depend_on_epsilon() {
        let mut y = [0.0];
        rms_norm(1, 1, &[0.003], &[1.0], &mut y);
        assert!((0.65..0.75).contains(&y[0]), "{}", y[0]);
    }

    #[test]
    fn sums_of_one_term_after_another_stay_within_half_of_the_tolerance() {
        const COLUMNS: usize = 4096;
        let mut rng = Rng::new(1);
        let x = rows(&mut rng, 20, COLUMNS);
        let mut y = vec![0.0; x.len()];
        rms_norm(20, COLUMNS, &x, &vec![1.0; COLUMNS], &mut y);
        for (x, y) in x.chunks_exact(COLUMNS).zip(y.chunks_exact(COLUMNS)) {
            let sum = x.iter().fold(0.0f32, |sum, x| sum + x * x);
            let scale = 1.0 / (sum / COLUMNS as f32 + 1e-5).sqrt();
            for (x, y) in x.iter().zip(y) {
                assert!(f64::from((x * scale - y).abs()) <= RTOL / 2.0 * f64::from(y.abs()));
            }
        }
    }

    #[test]
    fn no_constant_answer_passes() {
        let mut rng = Rng::new(1);
        let x = rows(&mut rng, 10, 400);
        let gain: Vec<f32> = (0..400).map(|_| rng.uniform(0.5, 1.5) as f32).collect();
        let mut y = vec![0.0; 4000];
        rms_norm(10, 400, &x, &gain, &mut y);
        no_constant_passes(&y, Tolerance { rtol: RTOL, atol: 0.0 });
    }
}
