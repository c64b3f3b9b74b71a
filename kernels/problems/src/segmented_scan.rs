//! Prefix sums that begin anew at every flag.

use gpubench::prelude::*;
use std::ops::RangeInclusive;

cuda_source!(SEGMENTED_REFERENCE = "references/segmented_scan.cu");

/// Whole numbers. A segment is at most the whole vector, whose sums stay below 2^24 as those of
/// the problem `prefix_sum` do, so no order of additions rounds and the comparison is exact.
const ELEMENTS: RangeInclusive<i32> = -8..=9;

/// Computes the inclusive prefix sums of each segment of a vector.
///
/// `begins[i]` is 1 if a segment begins at element i, and 0 if the element belongs to the segment
/// of the one before. Element 0 begins a segment, whatever its flag says. `y[i]` is the sum of the
/// elements from the beginning of the segment to `x[i]`. Segments have from one element to more
/// than 100 000, and one may be as long as the vector.
///
/// The elements are whole numbers from -8 to 9, stored as `f32`. No sum of some of them is so large
/// that it would have to be rounded, so they may be added in any order, and the comparison is
/// exact.
#[problem(
    axes(n = [1 << 24, 10_000_019]),
    cpu(axes(n = [1 << 16, 50_021])),
    cuda(reference = launch(segment_by_segment)),
    exact,
    bytes = 9 * n,
    hidden(n = draw(1..=70_000), count = 5),
    limits(time = "10s", source = "64 KiB"),
)]
pub fn segmented_scan(
    n: usize,
    #[fill(Integers(ELEMENTS), n)] x: &[f32],
    #[fill(ByKernel(SEGMENTED_REFERENCE.kernel("write_begins")), n)] begins: &[u8],
    #[shape(n)] y: &mut [f32],
) {
    let mut sum = 0.0f64;
    for ((x, begins), y) in x[..n].iter().zip(begins).zip(y) {
        sum = if *begins == 0 { sum } else { 0.0 } + f64::from(*x);
        *y = sum as f32;
    }
}

fn segment_by_segment(launcher: &mut Launcher, n: usize, x: In<f32>, begins: In<u8>, y: Out<f32>) -> Result<()> {
    let kernel = SEGMENTED_REFERENCE.kernel("segment_by_segment");
    launcher.launch(kernel, Grid::covering(n, 64), (x, begins, y, n))
}

#[cfg(test)]
mod tests {
    use super::{ELEMENTS, segmented_scan};
    use crate::shortcuts::{Tolerance, no_constant_passes, whole_numbers};
    use gpubench::Rng;

    #[test]
    fn the_reference_begins_anew_at_each_flag() {
        let mut y = [9.0; 6];
        segmented_scan(6, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[0, 0, 1, 1, 0, 0], &mut y);
        assert_eq!(y, [1.0, 3.0, 3.0, 4.0, 9.0, 15.0]);
    }

    #[test]
    fn no_constant_answer_passes() {
        let mut rng = Rng::new(1);
        let x = whole_numbers(&mut rng, ELEMENTS, 1000);
        let begins: Vec<u8> = (0..1000).map(|_| u8::from(rng.below(8) == 0)).collect();
        let mut y = vec![0.0; 1000];
        segmented_scan(1000, &x, &begins, &mut y);
        no_constant_passes(&y, Tolerance::EXACT);
    }
}
