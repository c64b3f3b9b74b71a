//! The transpose of a matrix: pure memory traffic, with strided access.

use gpubench::plan::Swizzle;
use gpubench::prelude::*;

cuda_source!(TRANSPOSE = "transpose.cu");
cuda_source!(TRANSPOSE_REFERENCE = "references/transpose.cu");
cuda_source!(HOPPER = "transpose_hopper.cu");

fn gather(launcher: &mut Launcher, rows: usize, columns: usize, x: In<f32>, y: Out<f32>) -> Result<()> {
    let grid = Grid::covering(rows * columns, 128);
    launcher.launch(TRANSPOSE_REFERENCE.kernel("gather"), grid, (x, y, rows, columns))
}

/// Transposes a matrix.
///
/// `y[c][r]` is `x[r][c]`, and both are stored by rows. The comparison is exact.
// Exact: elements are moved without arithmetic.
#[problem(
    axes(rows = [4096, 4001], columns = [4096]),
    cpu(axes(rows = [256, 161], columns = [200])),
    cuda(reference = launch(gather)),
    exact,
    bytes = 8 * rows * columns,
    hidden(rows = draw(1..=300), columns = draw(1..=300), count = 5),
    limits(time = "10s", source = "64 KiB"),
)]
pub fn transpose(
    rows: usize,
    columns: usize,
    #[fill(Uniform(1.0..2.0), [rows, columns])] x: &[f32],
    #[shape([columns, rows])] y: &mut [f32],
) {
    for row in 0..rows {
        for column in 0..columns {
            y[column * rows + row] = x[row * columns + column];
        }
    }
}

#[gpubench(problem = transpose)]
fn naive(launcher: &mut Launcher, rows: usize, columns: usize, x: In<f32>, y: Out<f32>) -> Result<()> {
    let grid = Grid::covering((columns, rows), (32, 8));
    launcher.launch(TRANSPOSE.kernel("naive"), grid, (x, y, rows, columns))
}

#[gpubench(problem = transpose)]
fn tiled(launcher: &mut Launcher, rows: usize, columns: usize, x: In<f32>, y: Out<f32>) -> Result<()> {
    // Blocks of 32 by 8 threads, one block per tile of 32 by 32 elements.
    let grid = Grid::new((columns.div_ceil(32), rows.div_ceil(32)), (32, 8));
    launcher.launch(TRANSPOSE.kernel("tiled"), grid, (x, y, rows, columns))
}

/// The tensor memory accelerator loads the tiles. It needs rows of a multiple of 16 bytes.
#[gpubench(problem = transpose, requires(capability = 9.0))]
fn tensor_map(launcher: &mut Launcher, rows: usize, columns: usize, x: In<f32>, y: Out<f32>) -> Result<()> {
    let x = TensorMap::tiled(x, [columns, rows], [32, 32]).swizzle(Swizzle::Bytes128);
    let grid = Grid::new((columns.div_ceil(32), rows.div_ceil(32)), (32, 8));
    launcher.launch(HOPPER.kernel("tensor_map"), grid, (x, y, rows, columns))
}

#[cfg(test)]
mod tests {
    use super::transpose;
    use crate::shortcuts::{Tolerance, no_constant_passes};
    use gpubench::Rng;

    #[test]
    fn the_reference_turns_rows_into_columns() {
        let mut y = [0.0; 6];
        transpose(2, 3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &mut y);
        assert_eq!(y, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    }

    #[test]
    fn no_constant_answer_passes() {
        let mut rng = Rng::new(1);
        let x: Vec<f32> = (0..1000).map(|_| 1.0 + rng.f32()).collect();
        let mut y = vec![0.0; 1000];
        transpose(20, 50, &x, &mut y);
        no_constant_passes(&y, Tolerance::EXACT);
    }
}
