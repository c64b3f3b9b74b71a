//! The product of activations in half precision and weights of four bits: a linear layer of a
//! quantised language model.

use gpubench::prelude::*;
use std::ops::RangeInclusive;

cuda_source!(REFERENCE = "references/int4_product.cu");

/// Columns of W that share a scale.
const GROUP: usize = 32;

/// Whole numbers so small that 4096 products, each with a weight from -8 to 7 and a scale, add up
/// to less than 2^24, where sums in `f32` do not round.
const ACTIVATIONS: RangeInclusive<i32> = -32..=32;
const SCALES: RangeInclusive<i32> = 1..=15;

/// Multiplies activations by weights of four bits: C = X Wᵀ, where X has `m` rows, W has `n` rows,
/// and both have `k` columns.
///
/// All matrices are stored by rows. W is quantised: a byte of `w` has two columns, the first in its
/// lower four bits. Such a number from 0 to 15, less 8, is to be multiplied by the scale of its row
/// and its group of 32 columns. `k` is a multiple of 32, and `scale` has `n` rows of `k / 32`.
///
/// The activations and scales are whole numbers so small that scaled weights are exact in half
/// precision, products and sums in `f32`, in any order. So C is compared exactly. Sums in half
/// precision are not precise enough.
#[problem(
    cases((m, n, k) = [(256, 4096, 4096), (101, 4001, 1056)]),
    cpu(cases((m, n, k) = [(32, 96, 128), (21, 61, 96)])),
    cuda(reference = launch(in_integers)),
    exact,
    bytes = 2 * m * k + n * k / 2 + 2 * n * (k / 32) + 4 * m * n,
    flops = 2 * m * n * k,
    hidden(m = draw(1..60), n = draw(1..150), k = [32, 96], count = 2),
    limits(time = "5s", source = "64 KiB"),
)]
pub fn int4_product(
    m: usize,
    n: usize,
    k: usize,
    #[fill(Integers(ACTIVATIONS), [m, k])] x: &[F16],
    #[fill(Bits, [n, k / 2])] w: &[u8],
    #[fill(Integers(SCALES), [n, k / 32])] scale: &[F16],
    #[shape([m, n])] c: &mut [f32],
) {
    for row in 0..m {
        for column in 0..n {
            let mut sum = 0.0;
            for i in 0..k {
                let byte = w[(column * k + i) / 2];
                let bits = if i % 2 == 0 { byte & 15 } else { byte >> 4 };
                let weight = (f64::from(bits) - 8.0) * f64::from(scale[(column * k + i) / GROUP].to_f32());
                sum += f64::from(x[row * k + i].to_f32()) * weight;
            }
            c[row * n + column] = sum as f32;
        }
    }
}

#[allow(clippy::too_many_arguments)]
fn in_integers(
    launcher: &mut Launcher,
    m: usize,
    n: usize,
    k: usize,
    x: In<F16>,
    w: In<u8>,
    scale: In<F16>,
    c: Out<f32>,
) -> Result<()> {
    let grid = Grid::covering((n, m), (32, 8));
    launcher.launch(REFERENCE.kernel("in_integers"), grid, (x, w, scale, c, m, n, k))
}

#[cfg(test)]
mod tests {
    use super::{ACTIVATIONS, GROUP, SCALES, int4_product};
    use crate::shortcuts::{Tolerance, no_constant_passes};
    use gpubench::{F16, Rng};
    use std::ops::RangeInclusive;

    #[test]
    fn the_reference_scales_groups_of_weights() {
        let mut x = [F16::from_f32(0.0); 2 * GROUP];
        let mut w = [0x88; GROUP];
        (x[0], x[1], x[GROUP]) = (F16::from_f32(2.0), F16::from_f32(10.0), F16::from_f32(1.0));
        (w[0], w[GROUP / 2]) = (0x0f, 0x09);
        let mut c = [0.0];
        int4_product(1, 1, 2 * GROUP, &x, &w, &[3.0, 100.0].map(F16::from_f32), &mut c);
        assert_eq!(c, [2.0 * 7.0 * 3.0 - 10.0 * 8.0 * 3.0 + 100.0]);
    }

    #[test]
    fn sums_of_the_longest_rows_do_not_round() {
        assert!(4096 * ACTIVATIONS.end() * 8 * SCALES.end() < 1 << 24);
    }

    #[test]
    fn no_constant_answer_passes() {
        const SIZE: usize = 32;
        let mut rng = Rng::new(1);
        let mut draw = |range: RangeInclusive<i32>, len: usize| {
            let count = (range.end() - range.start() + 1) as u64;
            let mut number = || (range.start() + rng.below(count) as i32) as f32;
            (0..len).map(|_| F16::from_f32(number())).collect::<Vec<_>>()
        };
        let (x, scale) = (draw(ACTIVATIONS, SIZE * SIZE), draw(SCALES, SIZE));
        let w: Vec<u8> = (0..SIZE * SIZE / 2).map(|_| rng.next_u32() as u8).collect();
        let mut c = vec![0.0; SIZE * SIZE];
        int4_product(SIZE, SIZE, SIZE, &x, &w, &scale, &mut c);
        no_constant_passes(&c, Tolerance::EXACT);
    }
}
