//! Quantisation of rows to 8-bit integers, as for the activations of a language model.

use gpubench::prelude::*;

cuda_source!(REFERENCE = "references/int8_row_quantise.cu");

/// Quantises each row to integers from -127 to 127 and a scale.
///
/// The scale is the largest magnitude of the row, divided by 127. An element is divided by the
/// scale and rounded to the nearest integer, a tie to the even one. Both quotients are rounded to
/// `f32` as by IEEE 754, so a product with a reciprocal is not the same. A row of zeros has the
/// scale 0 and zeros. Integers and scales are compared exactly.
///
/// Rows differ in their scale. Some have many ties, and some are zeros.
#[problem(
    axes(rows = [16384], columns = [4096, 3999]),
    cpu(axes(rows = [64], columns = [512, 333])),
    cuda(reference = launch(by_comparison)),
    exact,
    bytes = 5 * rows * columns + 4 * rows,
    hidden(rows = draw(1..100), columns = [1, 100, 777], count = 2),
    limits(time = "5s", source = "64 KiB"),
)]
pub fn int8_row_quantise(
    rows: usize,
    columns: usize,
    #[fill(ByKernel(REFERENCE.kernel(format!("rows_apart<{columns}>"))), [rows, columns])] x: &[f32],
    #[shape([rows, columns])] q: &mut [i8],
    #[shape(rows)] scale: &mut [f32],
) {
    for row in 0..rows {
        let (x, q) = (&x[row * columns..][..columns], &mut q[row * columns..][..columns]);
        scale[row] = x.iter().fold(0.0, |largest: f32, x| largest.max(x.abs())) / 127.0;
        for (x, q) in x.iter().zip(q) {
            *q = match scale[row] {
                0.0 => 0,
                scale => (x / scale).round_ties_even() as i8,
            };
        }
    }
}

fn by_comparison(
    launcher: &mut Launcher,
    rows: usize,
    columns: usize,
    x: In<f32>,
    q: Out<i8>,
    scale: Out<f32>,
) -> Result<()> {
    let kernel = REFERENCE.kernel("by_comparison");
    launcher.launch(kernel, Grid::new(rows, 64), (x, q, scale, columns))
}

#[cfg(test)]
mod tests {
    use super::int8_row_quantise;
    use crate::shortcuts::{Tolerance, no_constant_passes};
    use gpubench::Rng;

    #[test]
    fn the_reference_rounds_ties_to_even() {
        let (mut q, mut scale) = ([9; 12], [9.0; 3]);
        let x = [-254.0, 1.0, 3.0, -5.0, 0.0, -0.0, 0.0, 0.0, 1e-3, -2e-3, 0.5e-3, 0.0];
        int8_row_quantise(3, 4, &x, &mut q, &mut scale);
        // The quotients of the first row are -127, 0.5, 1.5 and -2.5.
        assert_eq!(q, [-127, 0, 2, -2, 0, 0, 0, 0, 64, -127, 32, 0]);
        assert_eq!(scale, [2.0, 0.0, 2e-3 / 127.0]);
    }

    #[test]
    fn no_constant_answer_passes() {
        let mut rng = Rng::new(1);
        let mut row = || {
            let scale = rng.uniform(-8.0, 8.0).exp2();
            (0..100)
                .map(|_| (scale * rng.uniform(-1.0, 1.0)) as f32)
                .collect::<Vec<_>>()
        };
        let x: Vec<f32> = (0..50).flat_map(|_| row()).collect();
        let (mut q, mut scale) = (vec![0; 5000], vec![0.0; 50]);
        int8_row_quantise(50, 100, &x, &mut q, &mut scale);
        no_constant_passes(&q, Tolerance::EXACT);
        no_constant_passes(&scale, Tolerance::EXACT);
    }
}
