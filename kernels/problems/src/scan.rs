//! Inclusive prefix sums in three launches, with scratch memory between them.

use gpubench::prelude::*;

cuda_source!(SCAN = "scan.cu");
cuda_source!(SCAN_REFERENCE = "references/scan.cu");

/// Threads per block and elements per tile, the same as in the kernels.
const THREADS: usize = 256;
const TILE: usize = 4 * THREADS;

/// Computes the inclusive prefix sums of a vector of integers: `y[i]` is the sum of `x[0]` to
/// `x[i]`.
///
/// The elements have any bits, and sums wrap around at 2^32.
// Every bit of every preceding element counts.
#[problem(
    axes(n = [1 << 24, 10_000_019]),
    cpu(axes(n = [1 << 16, 50_021])),
    cuda(reference = launch(piece_by_piece)),
    bytes = 8 * n,
    hidden(n = draw(1..=70_000), count = 5),
    limits(time = "10s", source = "64 KiB"),
)]
pub fn inclusive_scan(n: usize, #[fill(Bits, n)] x: &[u32], #[shape(n)] y: &mut [u32]) {
    let mut sum = 0u32;
    for (x, y) in x[..n].iter().zip(y) {
        sum = sum.wrapping_add(*x);
        *y = sum;
    }
}

fn piece_by_piece(launcher: &mut Launcher, n: usize, x: In<u32>, y: Out<u32>) -> Result<()> {
    const PIECE: usize = 2048;
    let pieces = n.div_ceil(PIECE);
    let sums = launcher.scratch::<u32>(pieces)?;
    let grid = Grid::covering(pieces, 32);
    launcher.launch(SCAN_REFERENCE.kernel("add_pieces"), grid, (x, sums, n, PIECE))?;
    launcher.launch(SCAN_REFERENCE.kernel("add_before"), Grid::new(1, 1), (sums, pieces))?;
    launcher.launch(SCAN_REFERENCE.kernel("scan_pieces"), grid, (x, sums, y, n, PIECE))
}

#[gpubench(problem = inclusive_scan)]
fn inclusive(launcher: &mut Launcher, n: usize, x: In<u32>, y: Out<u32>) -> Result<()> {
    let tiles = n.div_ceil(TILE);
    let sums = launcher.scratch::<u32>(tiles)?;
    launcher.launch(SCAN.kernel("scan_tiles"), Grid::new(tiles, THREADS), (x, y, sums, n))?;
    if tiles == 1 {
        return Ok(());
    }
    launcher.launch(SCAN.kernel("scan_sums"), Grid::new(1, THREADS), (sums, tiles))?;
    launcher.launch(SCAN.kernel("add_offsets"), Grid::new(tiles - 1, THREADS), (y, sums, n))
}

#[cfg(test)]
mod tests {
    use super::inclusive_scan;
    use crate::shortcuts::{Tolerance, no_constant_passes};
    use gpubench::Rng;

    #[test]
    fn the_reference_adds_up_and_wraps_around() {
        let mut y = [0; 5];
        inclusive_scan(5, &[1, 2, 0, u32::MAX, 7], &mut y);
        assert_eq!(y, [1, 3, 3, 2, 9]);
    }

    #[test]
    fn no_constant_answer_passes() {
        let mut rng = Rng::new(1);
        let x: Vec<u32> = (0..1000).map(|_| rng.next_u32()).collect();
        let mut y = vec![0; 1000];
        inclusive_scan(1000, &x, &mut y);
        no_constant_passes(&y, Tolerance::EXACT);
    }
}
