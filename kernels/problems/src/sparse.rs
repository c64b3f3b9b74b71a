//! The product of a sparse matrix and a vector.

use gpubench::prelude::*;
use std::ops::RangeInclusive;

cuda_source!(SPARSE = "sparse.cu");
cuda_source!(SPARSE_REFERENCE = "references/sparse.cu");

/// The average number of entries per row.
const ENTRIES_PER_ROW: usize = 8;

/// Whole numbers so small that sums of `f32` products do not round in any order. The longest row of
/// the largest matrix has 2^17 + 18 entries, whose products are at most 81, so the sum is below
/// 2^24. The comparison is therefore exact, and a single missing entry of the longest row shows.
const FACTORS: RangeInclusive<i32> = -8..=9;

/// With fewer rows, a row could have more entries than the matrix has columns.
const FEWEST_ROWS: usize = 64;

fn refuse_few(rows: usize) -> Result<()> {
    match rows {
        FEWEST_ROWS.. => Ok(()),
        _ => Err(gpubench::Error::new(format!(
            "the axis `rows` is at least {FEWEST_ROWS}, not {rows}"
        ))),
    }
}

#[allow(clippy::too_many_arguments)]
fn in_integers(
    launcher: &mut Launcher,
    rows: usize,
    row_start: In<u32>,
    column: In<u32>,
    value: In<f32>,
    x: In<f32>,
    y: Out<f32>,
) -> Result<()> {
    let arguments = (row_start, column, value, x, y);
    launcher.launch(SPARSE_REFERENCE.kernel("in_integers"), Grid::new(rows, 64), arguments)
}

/// Multiplies a sparse matrix by a vector.
///
/// The matrix has `rows` rows and as many columns, in compressed rows: the entries of row r are
/// those from `row_start[r]` to just before `row_start[r + 1]`, and entry e has the value
/// `value[e]` in column `column[e]`. Columns ascend within a row. There are 8 entries a row on
/// average. One row in eight has none, most have up to 18, and one has as many as half of the
/// columns. `rows` is at least 64.
///
/// `y[r]` is the sum of `value[e] * x[column[e]]` over the entries of row r. The values and `x` are
/// whole numbers from -8 to 9, stored as `f32`. No sum has to be rounded, so products may be added
/// in any order, and the comparison is exact.
//
// The row offsets are the same for all calls, the values and the columns differ.
#[problem(
    axes(rows = [1 << 18, 200_003]),
    cpu(axes(rows = [4096, 3001])),
    cuda(reference = launch(in_integers)),
    exact,
    bytes = 8 * ENTRIES_PER_ROW * rows + 12 * rows + 4,
    flops = 2 * ENTRIES_PER_ROW * rows,
    hidden(rows = draw(64..=5000), count = 5),
    limits(time = "10s", source = "64 KiB"),
)]
pub fn spmv(
    rows: usize,
    #[fill(ByKernel(SPARSE_REFERENCE.kernel("write_row_starts")), rows + 1)] row_start: &[u32],
    #[fill(ByKernel(SPARSE_REFERENCE.kernel("write_columns")), 8 * rows)] column: &[u32],
    #[fill(Integers(FACTORS), 8 * rows)] value: &[f32],
    #[fill(Integers(FACTORS), rows)] x: &[f32],
    #[shape(rows)] y: &mut [f32],
) {
    for row in 0..rows {
        let entries = row_start[row] as usize..row_start[row + 1] as usize;
        let products = entries.map(|entry| f64::from(value[entry]) * f64::from(x[column[entry] as usize]));
        y[row] = products.sum::<f64>() as f32;
    }
}

#[allow(clippy::too_many_arguments)]
#[gpubench(problem = spmv)]
fn thread_per_row(
    launcher: &mut Launcher,
    rows: usize,
    row_start: In<u32>,
    column: In<u32>,
    value: In<f32>,
    x: In<f32>,
    y: Out<f32>,
) -> Result<()> {
    refuse_few(rows)?;
    let arguments = (row_start, column, value, x, y, rows);
    launcher.launch(SPARSE.kernel("thread_per_row"), Grid::covering(rows, 256), arguments)
}

#[allow(clippy::too_many_arguments)]
#[gpubench(problem = spmv)]
fn eight_threads_per_row(
    launcher: &mut Launcher,
    rows: usize,
    row_start: In<u32>,
    column: In<u32>,
    value: In<f32>,
    x: In<f32>,
    y: Out<f32>,
) -> Result<()> {
    refuse_few(rows)?;
    // The number of threads per row is the average number of entries.
    let kernel = SPARSE.kernel(format!("threads_per_row<{ENTRIES_PER_ROW}>"));
    let grid = Grid::covering(rows * ENTRIES_PER_ROW, 256);
    launcher.launch(kernel, grid, (row_start, column, value, x, y, rows))
}

#[cfg(test)]
mod tests {
    use super::{ENTRIES_PER_ROW, FACTORS, FEWEST_ROWS, refuse_few, spmv};
    use crate::shortcuts::{Tolerance, no_constant_passes};
    use gpubench::Rng;

    const ROWS: usize = 1001;

    #[test]
    fn the_reference_adds_the_entries_of_each_row() {
        let mut y = [9.0; 3];
        spmv(
            3,
            &[0, 2, 2, 3],
            &[0, 2, 1],
            &[2.0, 3.0, 4.0],
            &[1.0, 10.0, 100.0],
            &mut y,
        );
        assert_eq!(y, [302.0, 0.0, 40.0]);
    }

    #[test]
    fn a_matrix_with_too_few_rows_is_refused() {
        assert!(refuse_few(FEWEST_ROWS).is_ok());
        assert!(refuse_few(FEWEST_ROWS - 1).is_err());
    }

    #[test]
    fn no_constant_answer_passes() {
        let mut rng = Rng::new(1);
        let span = (FACTORS.end() - FACTORS.start() + 1) as u64;
        let mut draw = |len| {
            (0..len)
                .map(|_| (rng.below(span) as i32 + FACTORS.start()) as f32)
                .collect::<Vec<_>>()
        };
        let (value, x, mut y) = (draw(ENTRIES_PER_ROW * ROWS), draw(ROWS), vec![0.0; ROWS]);
        let row_start: Vec<u32> = (0..=ROWS).map(|row| (row * ENTRIES_PER_ROW) as u32).collect();
        let column: Vec<u32> = (0..value.len()).map(|entry| (entry * 37 % ROWS) as u32).collect();
        spmv(ROWS, &row_start, &column, &value, &x, &mut y);
        no_constant_passes(&y, Tolerance::EXACT);
    }
}
