//! A sparse matrix times a vector.

use gpubench::prelude::*;
use std::ops::RangeInclusive;

cuda_source!(SPARSE = "sparse.cu");
cuda_source!(SPARSE_REFERENCE = "references/sparse.cu");

/// Entries of the matrix for each of its rows, on average.
const ENTRIES_PER_ROW: usize = 8;

/// Whole numbers so small that sums of `f32` products do not round, in any order: the longest row of the largest matrix
/// has 2^17 entries, whose products are at most 81, which makes less than 2^24. So results are compared exactly, and a
/// single entry left out of the longest row shows.
const FACTORS: RangeInclusive<i32> = -8..=9;

/// Fewer rows have no room for so many entries beside the empty rows.
const FEWEST_ROWS: usize = 2 * ENTRIES_PER_ROW;

/// A square matrix in compressed rows. See [`fill_structure`] for its shape.
fn matrix_and_vector(rows: usize) -> Tensors {
    let entries = ENTRIES_PER_ROW * rows;
    Tensors::new()
        .input("row_start", u32::shape(rows + 1), ByCpu)
        .input("column", u32::shape(entries), ByCpu)
        .input("value", f32::shape(entries), Integers(FACTORS))
        .input("x", f32::shape(rows), Integers(FACTORS))
        .output("y", f32::shape(rows))
        .generate(move |rng: &mut Rng, data: &mut CpuData| {
            fill_structure(rng, rows, data.slice("row_start"), data.slice("column"))
        })
}

/// Draws where the entries are: rows of random length, one row in eight empty, and one row that has half of the
/// columns. In each row, columns are distinct and ascend.
fn fill_structure(rng: &mut Rng, rows: usize, row_start: &mut [u32], column: &mut [u32]) -> Result<()> {
    if rows < FEWEST_ROWS {
        return Err(gpubench::Error::new(format!(
            "the axis `rows` is at least {FEWEST_ROWS}, not {rows}"
        )));
    }
    let longest = rng.index(rows);
    let mut lengths = vec![0usize; rows];
    lengths[longest] = rows / 2;
    let mut left = column.len() - rows / 2;
    while left > 0 {
        let row = rng.index(rows);
        // A row cannot have more entries than the matrix has columns.
        if row % 8 != 3 && row != longest && lengths[row] < rows {
            lengths[row] += 1;
            left -= 1;
        }
    }
    let mut start = 0;
    row_start[0] = 0;
    for (row, &length) in lengths.iter().enumerate() {
        for (entry, column) in column[start..start + length].iter_mut().enumerate() {
            // The columns are divided evenly among the entries of a row, and each entry is somewhere in its share.
            let (from, to) = (entry * rows / length, (entry + 1) * rows / length);
            *column = (from + rng.index(to - from)) as u32;
        }
        start += length;
        row_start[row + 1] = start as u32;
    }
    Ok(())
}

#[allow(clippy::too_many_arguments)]
fn in_integers(
    cx: &mut Launcher,
    rows: usize,
    row_start: In<u32>,
    column: In<u32>,
    value: In<f32>,
    x: In<f32>,
    y: Out<f32>,
) -> Result<()> {
    let arguments = (row_start, column, value, x, y);
    cx.launch(SPARSE_REFERENCE.kernel("in_integers"), Grid::new(rows, 64), arguments)
}

/// A sparse matrix in compressed rows times a vector.
#[problem(
    axes(rows = [1 << 18, 200_003]),
    cpu(axes(rows = [4096, 3001])),
    cuda(reference = launch(in_integers)),
    inputs = matrix_and_vector,
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
    cx: &mut Launcher,
    rows: usize,
    row_start: In<u32>,
    column: In<u32>,
    value: In<f32>,
    x: In<f32>,
    y: Out<f32>,
) -> Result<()> {
    let arguments = (row_start, column, value, x, y, rows);
    cx.launch(SPARSE.kernel("thread_per_row"), Grid::covering(rows, 256), arguments)
}

#[allow(clippy::too_many_arguments)]
#[gpubench(problem = spmv)]
fn eight_threads_per_row(
    cx: &mut Launcher,
    rows: usize,
    row_start: In<u32>,
    column: In<u32>,
    value: In<f32>,
    x: In<f32>,
    y: Out<f32>,
) -> Result<()> {
    // As many threads as a row has entries on average.
    let kernel = SPARSE.kernel(format!("threads_per_row<{ENTRIES_PER_ROW}>"));
    let grid = Grid::covering(rows * ENTRIES_PER_ROW, 256);
    cx.launch(kernel, grid, (row_start, column, value, x, y, rows))
}

#[cfg(test)]
mod tests {
    use super::{ENTRIES_PER_ROW, FACTORS, FEWEST_ROWS, fill_structure, spmv};
    use crate::shortcuts::{Tolerance, no_constant_passes};
    use gpubench::Rng;

    const ROWS: usize = 1001;

    fn structure(rng: &mut Rng) -> (Vec<u32>, Vec<u32>) {
        let (mut row_start, mut column) = (vec![u32::MAX; ROWS + 1], vec![u32::MAX; ENTRIES_PER_ROW * ROWS]);
        fill_structure(rng, ROWS, &mut row_start, &mut column).unwrap();
        (row_start, column)
    }

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
    fn columns_of_a_generated_row_ascend_inside_the_matrix() {
        let (row_start, column) = structure(&mut Rng::new(1));
        assert_eq!((row_start[0], row_start[ROWS]), (0, column.len() as u32));
        for bounds in row_start.windows(2) {
            let row = &column[bounds[0] as usize..bounds[1] as usize];
            assert!(row.is_sorted_by(|left, right| left < right), "{row:?}");
            assert!(row.iter().all(|&column| (column as usize) < ROWS), "{row:?}");
        }
    }

    #[test]
    fn the_smallest_matrix_has_room_for_its_entries_and_a_smaller_one_is_refused() {
        for (rows, possible) in [(FEWEST_ROWS, true), (FEWEST_ROWS - 1, false)] {
            let (mut row_start, mut column) = (vec![0; rows + 1], vec![0; ENTRIES_PER_ROW * rows]);
            let filled = fill_structure(&mut Rng::new(1), rows, &mut row_start, &mut column);
            assert_eq!(filled.is_ok(), possible, "{rows}");
        }
    }

    #[test]
    fn a_generated_matrix_has_empty_rows_and_one_long_row() {
        let (row_start, _) = structure(&mut Rng::new(1));
        let mut lengths: Vec<u32> = row_start.windows(2).map(|bounds| bounds[1] - bounds[0]).collect();
        lengths.sort_unstable();
        assert_eq!(lengths[ROWS / 10], 0);
        assert_eq!(lengths[ROWS - 1], ROWS as u32 / 2);
        assert!(lengths[ROWS - 2] < 40);
    }

    #[test]
    fn no_constant_is_right() {
        let mut rng = Rng::new(1);
        let (row_start, column) = structure(&mut rng);
        let span = (FACTORS.end() - FACTORS.start() + 1) as u64;
        let mut draw = |len| {
            (0..len)
                .map(|_| (rng.below(span) as i32 + FACTORS.start()) as f32)
                .collect::<Vec<_>>()
        };
        let (value, x, mut y) = (draw(column.len()), draw(ROWS), vec![0.0; ROWS]);
        spmv(ROWS, &row_start, &column, &value, &x, &mut y);
        no_constant_passes(&y, Tolerance::EXACT);
    }
}
