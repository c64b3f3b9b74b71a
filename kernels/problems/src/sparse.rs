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

/// A square matrix in compressed rows: rows of up to 18 entries, one row in eight empty, and one
/// row with additional entries in half of the columns. The row offsets are the same for all calls.
/// The values and the columns differ; columns are distinct and ascend in each row.
fn matrix_and_vector(rows: usize) -> Tensors {
    let entries = ENTRIES_PER_ROW * rows;
    let row_start = SPARSE_REFERENCE.kernel("write_row_starts");
    Tensors::new()
        .input("row_start", u32::shape(rows + 1), ByKernel(row_start))
        .input(
            "column",
            u32::shape(entries),
            ByKernel(SPARSE_REFERENCE.kernel("write_columns")),
        )
        .input("value", f32::shape(entries), Integers(FACTORS))
        .input("x", f32::shape(rows), Integers(FACTORS))
        .output("y", f32::shape(rows))
}

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

/// Multiplies a sparse matrix in compressed rows by a vector.
#[problem(
    axes(rows = [1 << 18, 200_003]),
    cpu(axes(rows = [4096, 3001])),
    cuda(reference = launch(in_integers)),
    tensors = matrix_and_vector,
    exact,
    bytes = 8 * ENTRIES_PER_ROW * rows + 12 * rows + 4,
    flops = 2 * ENTRIES_PER_ROW * rows,
)]
pub fn spmv(rows: usize, row_start: &[u32], column: &[u32], value: &[f32], x: &[f32], y: &mut [f32]) {
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
