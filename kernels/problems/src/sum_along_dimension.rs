//! Sums along the middle one of three dimensions.

use gpubench::prelude::*;
use std::ops::RangeInclusive;

cuda_source!(SUM_ALONG_REFERENCE = "references/sum_along_dimension.cu");

/// Whole numbers whose sums stay below 2^24: even the longest one is of 2^14 elements of at most 9.
/// Such sums of `f32` do not round, in whatever order they are made, so the comparison is exact and
/// a single missing element shows.
const ELEMENTS: RangeInclusive<i32> = -8..=9;

/// Sums a tensor of three dimensions along the middle one.
///
/// `y[i][k]` is the sum of `x[i][j][k]` over all j. The last dimension varies fastest in memory.
/// The shapes differ much: some have many sums of few elements, others few sums of many.
///
/// The elements are whole numbers from -8 to 9, stored as `f32`. No sum of some of them is so large
/// that it would have to be rounded, so they may be added in any order, and the comparison is
/// exact.
#[problem(
    cases((outer, middle, inner) = [(16, 2048, 1024), (8, 8191, 999), (300, 64, 1999), (4096, 4096, 2)]),
    cpu(cases((outer, middle, inner) = [(4, 64, 100), (2, 511, 33), (30, 8, 61), (16, 512, 1)])),
    cuda(reference = launch(in_integers)),
    exact,
    bytes = 4 * outer * middle * inner + 4 * outer * inner,
    flops = outer * (middle - 1) * inner,
    hidden(cases((outer, middle, inner) = [(1, 1, 1), (3, 5000, 2), (7, 33, 129), (1, 300, 100), (100, 100, 1)])),
    limits(time = "10s", source = "64 KiB"),
)]
pub fn sum_along_dimension(
    outer: usize,
    middle: usize,
    inner: usize,
    #[fill(Integers(ELEMENTS), [outer, middle, inner])] x: &[f32],
    #[shape([outer, inner])] y: &mut [f32],
) {
    for i in 0..outer {
        for k in 0..inner {
            let along = (0..middle).map(|j| f64::from(x[(i * middle + j) * inner + k]));
            y[i * inner + k] = along.sum::<f64>() as f32;
        }
    }
}

fn in_integers(
    launcher: &mut Launcher,
    outer: usize,
    middle: usize,
    inner: usize,
    x: In<f32>,
    y: Out<f32>,
) -> Result<()> {
    let kernel = SUM_ALONG_REFERENCE.kernel("in_integers");
    launcher.launch(kernel, Grid::covering(outer * inner, 64), (x, y, outer, middle, inner))
}

#[cfg(test)]
mod tests {
    use super::{ELEMENTS, sum_along_dimension};
    use crate::shortcuts::{Tolerance, no_constant_passes, whole_numbers};
    use gpubench::Rng;

    #[test]
    fn the_reference_adds_along_the_middle() {
        let x: Vec<f32> = (0..12).map(|i| f32::from(i as u8)).collect();
        let mut y = [9.0; 4];
        sum_along_dimension(2, 3, 2, &x, &mut y);
        assert_eq!(y, [6.0, 9.0, 24.0, 27.0]);
    }

    #[test]
    fn no_constant_answer_passes() {
        let x = whole_numbers(&mut Rng::new(1), ELEMENTS, 10 * 500 * 10);
        let mut y = vec![0.0; 100];
        sum_along_dimension(10, 500, 10, &x, &mut y);
        no_constant_passes(&y, Tolerance::EXACT);
    }
}
