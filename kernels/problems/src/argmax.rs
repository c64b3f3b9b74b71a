//! The index of the largest element of every row.

use gpubench::prelude::*;
use std::ops::RangeInclusive;

cuda_source!(ARGMAX = "argmax.cu");
cuda_source!(ARGMAX_REFERENCE = "references/argmax.cu");

/// Few distinct values, so that most rows have several largest elements. The rule for ties is part
/// of the problem: the lowest index wins.
const SCORES: RangeInclusive<i32> = -100..=100;

/// Finds the largest element of every row of a matrix.
///
/// `index[r]` is the column of the largest element of row r. If several are equal, it is the lowest
/// of their columns. Rows follow each other. The elements are whole numbers from -100 to 100,
/// stored as `f32`, so most rows have several largest ones.
#[problem(
    axes(rows = [16384], columns = [1024, 999]),
    cpu(axes(rows = [64], columns = [512, 333])),
    cuda(reference = launch(backwards)),
    bytes = 4 * rows * columns + 4 * rows,
    hidden(columns = draw(1..=700), count = 5),
    limits(time = "10s", source = "64 KiB"),
)]
pub fn row_argmax(
    rows: usize,
    columns: usize,
    #[fill(Integers(SCORES), [rows, columns])] x: &[f32],
    #[shape(rows)] index: &mut [i32],
) {
    for (x, index) in x.chunks_exact(columns).take(rows).zip(index) {
        let mut best = 0;
        for (column, &value) in x.iter().enumerate() {
            if value > x[best] {
                best = column;
            }
        }
        *index = best as i32;
    }
}

fn backwards(launcher: &mut Launcher, rows: usize, columns: usize, x: In<f32>, index: Out<i32>) -> Result<()> {
    let width = i32::try_from(columns)?;
    launcher.launch(
        ARGMAX_REFERENCE.kernel("backwards"),
        Grid::covering(rows, 32),
        (x, index, rows, width),
    )
}

#[gpubench(problem = row_argmax)]
fn argmax(launcher: &mut Launcher, rows: usize, columns: usize, x: In<f32>, index: Out<i32>) -> Result<()> {
    let columns = i32::try_from(columns)?;
    launcher.launch(ARGMAX.kernel("argmax<128>"), Grid::new(rows, 128), (x, index, columns))
}

#[cfg(test)]
mod tests {
    use super::{SCORES, row_argmax};
    use crate::shortcuts::{Tolerance, no_constant_passes};
    use gpubench::Rng;

    #[test]
    fn the_lowest_of_equal_largest_elements_wins() {
        let mut index = [0; 3];
        row_argmax(3, 3, &[1.0, 5.0, 5.0, 7.0, 7.0, 0.0, -3.0, -2.0, -1.0], &mut index);
        assert_eq!(index, [1, 0, 2]);
    }

    #[test]
    fn no_constant_answer_passes() {
        let mut rng = Rng::new(1);
        let span = (SCORES.end() - SCORES.start() + 1) as u64;
        let x: Vec<f32> = (0..100 * 333)
            .map(|_| (rng.below(span) as i32 + SCORES.start()) as f32)
            .collect();
        let mut index = vec![0; 100];
        row_argmax(100, 333, &x, &mut index);
        no_constant_passes(&index, Tolerance::EXACT);
    }
}
