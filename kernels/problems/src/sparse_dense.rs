//! The product of a sparse matrix and a dense one.

use gpubench::prelude::*;
use std::ops::RangeInclusive;

cuda_source!(SPARSE_DENSE_REFERENCE = "references/sparse_dense.cu");

/// The average number of entries per row.
const ENTRIES_PER_ROW: usize = 8;

/// Whole numbers so small that sums of `f32` products do not round in any order. The longest row of
/// the largest matrix has 2^16 + 18 entries, whose products are at most 81, so the sum is below
/// 2^24. The comparison is therefore exact, and a single missing entry of the longest row shows.
const FACTORS: RangeInclusive<i32> = -8..=9;

/// Multiplies a sparse matrix by a dense one.
///
/// The sparse matrix has `rows` rows and as many columns, in compressed rows: the entries of row r
/// are those from `row_start[r]` to just before `row_start[r + 1]`, and entry e has the value
/// `value[e]` in column `column[e]`. Columns ascend within a row. There are 8 entries a row on
/// average. One row in eight has none, most have up to 18, and one has as many as half of the
/// columns.
///
/// `x` and `y` have `rows` rows of `width` numbers each, by rows: `y[r][k]` is the sum of
/// `value[e] * x[column[e]][k]` over the entries of row r.
///
/// The values and `x` are whole numbers from -8 to 9, stored as `f32`. No sum has to be rounded, so
/// products may be added in any order, and the comparison is exact.
#[problem(
    axes(rows = [1 << 17, 100_003], width = [64]),
    cpu(axes(rows = [1024, 701], width = [16])),
    cuda(reference = launch(in_integers)),
    exact,
    bytes = 8 * ENTRIES_PER_ROW * rows + 4 * (rows + 1) + 8 * rows * width,
    flops = 2 * ENTRIES_PER_ROW * rows * width,
    hidden(rows = draw(64..=1500), width = draw(1..=40), count = 5),
    limits(time = "10s", source = "64 KiB"),
)]
#[allow(clippy::too_many_arguments)]
pub fn sparse_dense(
    rows: usize,
    width: usize,
    #[fill(ByKernel(SPARSE_DENSE_REFERENCE.kernel("write_row_starts")), rows + 1)] row_start: &[u32],
    #[fill(ByKernel(SPARSE_DENSE_REFERENCE.kernel("write_columns")), 8 * rows)] column: &[u32],
    #[fill(Integers(FACTORS), 8 * rows)] value: &[f32],
    #[fill(Integers(FACTORS), [rows, width])] x: &[f32],
    #[shape([rows, width])] y: &mut [f32],
) {
    let mut sums = vec![0.0f64; width];
    for row in 0..rows {
        sums.fill(0.0);
        for entry in row_start[row] as usize..row_start[row + 1] as usize {
            let x = &x[column[entry] as usize * width..][..width];
            for (sum, x) in sums.iter_mut().zip(x) {
                *sum += f64::from(value[entry]) * f64::from(*x);
            }
        }
        for (y, sum) in y[row * width..][..width].iter_mut().zip(&sums) {
            *y = *sum as f32;
        }
    }
}

#[allow(clippy::too_many_arguments)]
fn in_integers(
    launcher: &mut Launcher,
    rows: usize,
    width: usize,
    row_start: In<u32>,
    column: In<u32>,
    value: In<f32>,
    x: In<f32>,
    y: Out<f32>,
) -> Result<()> {
    let kernel = SPARSE_DENSE_REFERENCE.kernel("in_integers_by_columns");
    let arguments = (row_start, column, value, x, y, rows, width);
    launcher.launch(kernel, Grid::covering(rows * width, 128), arguments)
}

#[cfg(test)]
mod tests {
    use super::{ENTRIES_PER_ROW, FACTORS, sparse_dense};
    use crate::shortcuts::{Tolerance, no_constant_passes, whole_numbers};
    use gpubench::Rng;

    #[test]
    fn the_reference_adds_the_scaled_rows_of_the_dense_matrix() {
        let mut y = [9.0; 6];
        let x = [1.0, -1.0, 10.0, 20.0, 100.0, 0.0];
        sparse_dense(3, 2, &[0, 2, 2, 3], &[0, 2, 1], &[2.0, 3.0, 4.0], &x, &mut y);
        assert_eq!(y, [302.0, -2.0, 0.0, 0.0, 40.0, 80.0]);
    }

    #[test]
    fn no_constant_answer_passes() {
        const ROWS: usize = 101;
        let mut rng = Rng::new(1);
        let value = whole_numbers(&mut rng, FACTORS, ENTRIES_PER_ROW * ROWS);
        let x = whole_numbers(&mut rng, FACTORS, ROWS * 5);
        let row_start: Vec<u32> = (0..=ROWS).map(|row| (row * ENTRIES_PER_ROW) as u32).collect();
        let column: Vec<u32> = (0..value.len()).map(|entry| (entry * 37 % ROWS) as u32).collect();
        let mut y = vec![0.0; ROWS * 5];
        sparse_dense(ROWS, 5, &row_start, &column, &value, &x, &mut y);
        no_constant_passes(&y, Tolerance::EXACT);
    }
}
