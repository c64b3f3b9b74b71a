//! The triplet margin loss.

use crate::rounding::U;
use gpubench::prelude::*;
use std::ops::RangeInclusive;

cuda_source!(TRIPLET_REFERENCE = "references/triplet_margin.cu");

/// Whole numbers, whose differences and sums of squares are exact: a square is at most 64, and the
/// sum of 4096 of them is below 2^24.
const COORDINATES: RangeInclusive<i32> = -4..=4;

/// By how much a negative example has to be farther away than a positive one.
const MARGIN: f32 = 4.0;

/// The relative error of the mean, in units of `U`. What rounds is:
///
/// - The square roots and the difference of the distances: these are at most 250, as a sum of 4096
///   squares that are 13 on average is below 62 500 by many standard deviations. A root has at most
///   2 ulp, that is 4, and so the difference has 2 * 4 * 250, and 20 for its own rounding and the
///   addition of the margin: 2020. The mean loss of thousands of rows is above 4, as the margin
///   alone is 4: 505. With as few as 64 rows it may be half of that, but their distances are
///   shorter than half.
/// - The sum of up to 4096 losses. All terms are positive, and rounding errors are independent, so
///   after one addition after another the relative error has a standard deviation of `sqrt(4096 /
///   3)`: 37. Twelve of them are 444.
/// - The mean and the reference: 4.
///
/// A missing row would be 4096 units in the 16 777 216 that make up the mean: four times the sum.
const RTOL: f64 = (505.0 + 444.0 + 4.0) * U;

/// Computes the triplet margin loss of a batch: how much nearer an anchor is to a positive example
/// than to a negative one.
///
/// The loss of row i is `max(0, |a - p| - |a - n| + 4)`, where a, p and n are the rows i of
/// `anchor`, `positive` and `negative`, and |..| is the Euclidean length. `loss` is the mean over
/// all rows: a single number. Each row has `width` coordinates, which follow each other.
///
/// Coordinates are whole numbers from -4 to 4, stored as `f32`, so that sums of squares are exact
/// in `f32`. The tolerance leaves room for square roots of 2 ulp and for any order of additions.
#[problem(
    axes(batch = [4096], width = [4096, 3999]),
    cpu(axes(batch = [64], width = [256, 131])),
    cuda(reference = launch(in_double)),
    tolerance(rtol = RTOL),
    bytes = 12 * batch * width + 4,
    hidden(batch = draw(64..=200), width = draw(1..=500), count = 5),
    limits(time = "10s", source = "64 KiB"),
)]
pub fn triplet_margin(
    batch: usize,
    width: usize,
    #[fill(Integers(COORDINATES), [batch, width])] anchor: &[f32],
    #[fill(Integers(COORDINATES), [batch, width])] positive: &[f32],
    #[fill(Integers(COORDINATES), [batch, width])] negative: &[f32],
    #[shape(1)] loss: &mut [f32],
) {
    let distance = |one: &[f32], other: &[f32]| {
        let squares = one.iter().zip(other).map(|(a, b)| f64::from(a - b).powi(2));
        squares.sum::<f64>().sqrt()
    };
    let rows = (0..batch).map(|row| {
        let row = row * width..(row + 1) * width;
        let anchor = &anchor[row.clone()];
        let (near, far) = (&positive[row.clone()], &negative[row]);
        (distance(anchor, near) - distance(anchor, far) + f64::from(MARGIN)).max(0.0)
    });
    loss[0] = (rows.sum::<f64>() / batch as f64) as f32;
}

fn in_double(
    launcher: &mut Launcher,
    batch: usize,
    width: usize,
    anchor: In<f32>,
    positive: In<f32>,
    negative: In<f32>,
    loss: Out<f32>,
) -> Result<()> {
    let losses = launcher.scratch::<f64>(batch)?;
    launcher.launch(
        TRIPLET_REFERENCE.kernel("loss_of_row"),
        Grid::covering(batch, 32),
        (anchor, positive, negative, losses, batch, width, f64::from(MARGIN)),
    )?;
    launcher.launch(TRIPLET_REFERENCE.kernel("mean"), Grid::new(1, 1), (losses, loss, batch))
}

#[cfg(test)]
mod tests {
    use super::{COORDINATES, RTOL, triplet_margin};
    use crate::shortcuts::{Tolerance, no_constant_passes_twice, whole_numbers};
    use gpubench::Rng;

    #[test]
    fn the_reference_takes_the_mean_of_what_exceeds_the_margin() {
        let mut loss = [9.0];
        let (anchor, positive, negative) = ([0.0; 4], [3.0, 4.0, 0.0, 0.0], [0.0, 1.0, 4.0, 4.0]);
        triplet_margin(2, 2, &anchor, &positive, &negative, &mut loss);
        // 5 - 1 + 4, and 0 - sqrt(32) + 4, which is negative.
        assert_eq!(loss, [4.0]);
    }

    #[test]
    fn no_constant_answer_passes() {
        let mut rng = Rng::new(1);
        let losses: Vec<f32> = (0..10)
            .map(|_| {
                let mut draw = || whole_numbers(&mut rng, COORDINATES, 64 * 131);
                let (anchor, positive, negative) = (draw(), draw(), draw());
                let mut loss = [0.0];
                triplet_margin(64, 131, &anchor, &positive, &negative, &mut loss);
                loss[0]
            })
            .collect();
        no_constant_passes_twice(&losses, Tolerance { rtol: RTOL, atol: 0.0 });
    }
}
