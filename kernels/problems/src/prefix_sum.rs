//! Prefix sums of floating-point numbers.

use gpubench::prelude::*;
use std::ops::RangeInclusive;

cuda_source!(PREFIX_SUM_REFERENCE = "references/prefix_sum.cu");

/// Whole numbers whose sums stay below 2^24: 2^24 of them add up to 2^23 on average, give or take
/// 21 000, and the sum of any part is smaller. Such sums of `f32` do not round, in whatever order
/// they are made. The comparison is therefore exact, and a single missing element shows.
const ELEMENTS: RangeInclusive<i32> = -8..=9;

/// Computes the inclusive prefix sums of a vector: `y[i]` is the sum of `x[0]` to `x[i]`.
///
/// The elements are whole numbers from -8 to 9, stored as `f32`. No sum of some of them is so large
/// that it would have to be rounded, so they may be added in any order, and the comparison is
/// exact.
#[problem(
    axes(n = [1 << 24, 10_000_019]),
    cpu(axes(n = [1 << 16, 100_003])),
    cuda(reference = launch(piece_by_piece)),
    exact,
    bytes = 8 * n,
    flops = n - 1,
    hidden(n = draw(1..=150_000), count = 5),
    limits(time = "10s", source = "64 KiB"),
)]
pub fn prefix_sum(n: usize, #[fill(Integers(ELEMENTS), n)] x: &[f32], #[shape(n)] y: &mut [f32]) {
    let mut sum = 0.0f64;
    for (x, y) in x[..n].iter().zip(y) {
        sum += f64::from(*x);
        *y = sum as f32;
    }
}

fn piece_by_piece(launcher: &mut Launcher, n: usize, x: In<f32>, y: Out<f32>) -> Result<()> {
    const PIECE: usize = 2048;
    let pieces = n.div_ceil(PIECE);
    let sums = launcher.scratch::<i32>(pieces)?;
    let grid = Grid::covering(pieces, 32);
    launcher.launch(PREFIX_SUM_REFERENCE.kernel("add_pieces"), grid, (x, sums, n, PIECE))?;
    launcher.launch(
        PREFIX_SUM_REFERENCE.kernel("add_before"),
        Grid::new(1, 1),
        (sums, pieces),
    )?;
    launcher.launch(PREFIX_SUM_REFERENCE.kernel("scan_pieces"), grid, (x, sums, y, n, PIECE))
}

#[cfg(test)]
mod tests {
    use super::{ELEMENTS, prefix_sum};
    use crate::shortcuts::{Tolerance, no_constant_passes, whole_numbers};
    use gpubench::Rng;

    #[test]
    fn the_reference_adds_up_to_each_element() {
        let mut y = [9.0; 4];
        prefix_sum(4, &[1.0, -8.0, 9.0, 4.0], &mut y);
        assert_eq!(y, [1.0, -7.0, 2.0, 6.0]);
    }

    #[test]
    fn the_largest_sum_needs_no_rounding() {
        let x = whole_numbers(&mut Rng::new(1), ELEMENTS, 1 << 24);
        let sum: f64 = x.iter().map(|x| f64::from(*x)).sum();
        assert!((8.0e6..16.0e6).contains(&sum), "{sum}");
    }

    #[test]
    fn no_constant_answer_passes() {
        let x = whole_numbers(&mut Rng::new(1), ELEMENTS, 1000);
        let mut y = vec![0.0; 1000];
        prefix_sum(1000, &x, &mut y);
        no_constant_passes(&y, Tolerance::EXACT);
    }
}
