//! The product of two matrices in NVFP4.

use gpubench::prelude::*;
use std::ops::RangeInclusive;

cuda_source!(REFERENCE = "references/nvfp4_product.cu");

/// Elements that share a scale.
const BLOCK: usize = 16;

/// Scales in E4M3, by their bits: multiples of 1/16 from 1/2 to 15/8. An element is a multiple of a
/// half, so products with both scales are multiples of 2^-10. In these units, a sum of 4096
/// products has a standard deviation of 750 000, so none reaches 2^24, where sums in `f32` round.
const SCALES: RangeInclusive<u8> = 0x30..=0x3f;

/// The magnitude that three bits of E2M1 stand for.
const MAGNITUDES: [f64; 8] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];

/// The number that four bits of E2M1 stand for.
fn from_e2m1(bits: u8) -> f64 {
    let magnitude = MAGNITUDES[usize::from(bits & 7)];
    if bits & 8 == 0 { magnitude } else { -magnitude }
}

/// Multiplies two matrices in NVFP4: C = A Bᵀ, where A has `m` rows, B has `n` rows, and both have
/// `k` columns.
///
/// All matrices are stored by rows. A and B are in NVFP4: 16 neighbouring elements of a row share a
/// scale. A byte of `a` and `b` has two elements in E2M1, the first in its lower four bits.
/// `a_scale` and `b_scale` have `k / 16` columns of bits in E4M3. `k` is a multiple of 16. There is
/// no scale of a whole tensor.
///
/// Elements have all values. The scales are from 1/2 to 15/8, so that no product rounds in `f32`,
/// and no sum does, in any order: C is compared exactly.
#[allow(clippy::too_many_arguments)]
#[problem(
    cases((m, n, k) = [(2048, 4096, 2048), (2001, 3003, 1040)]),
    cpu(cases((m, n, k) = [(64, 96, 64), (41, 61, 80)])),
    cuda(reference = launch(in_integers)),
    exact,
    bytes = (m + n) * (k / 2 + k / 16) + 4 * m * n,
    flops = 2 * m * n * k,
    hidden(m = draw(1..60), n = draw(1..150), k = [16, 112], count = 2),
    limits(time = "5s", source = "64 KiB"),
)]
pub fn nvfp4_product(
    m: usize,
    n: usize,
    k: usize,
    #[fill(Bits, [m, k / 2])] a: &[u8],
    #[fill(Integers(SCALES), [m, k / 16])] a_scale: &[u8],
    #[fill(Bits, [n, k / 2])] b: &[u8],
    #[fill(Integers(SCALES), [n, k / 16])] b_scale: &[u8],
    #[shape([m, n])] c: &mut [f32],
) {
    let number = |elements: &[u8], scales: &[u8], index: usize| {
        let byte = elements[index / 2];
        let bits = if index.is_multiple_of(2) { byte & 15 } else { byte >> 4 };
        from_e2m1(bits) * f64::from(F8E4M3::from_bits(scales[index / BLOCK]).to_f32())
    };
    let a: Vec<f64> = (0..m * k).map(|index| number(a, a_scale, index)).collect();
    let b: Vec<f64> = (0..n * k).map(|index| number(b, b_scale, index)).collect();
    for row in 0..m {
        for column in 0..n {
            let factors = a[row * k..][..k].iter().zip(&b[column * k..][..k]);
            c[row * n + column] = factors.map(|(a, b)| a * b).sum::<f64>() as f32;
        }
    }
}

#[allow(clippy::too_many_arguments)]
fn in_integers(
    launcher: &mut Launcher,
    m: usize,
    n: usize,
    k: usize,
    a: In<u8>,
    a_scale: In<u8>,
    b: In<u8>,
    b_scale: In<u8>,
    c: Out<f32>,
) -> Result<()> {
    let arguments = (a, a_scale, b, b_scale, c, m, n, k);
    let grid = Grid::covering((n, m), (32, 8));
    launcher.launch(REFERENCE.kernel("in_integers"), grid, arguments)
}

#[cfg(test)]
mod tests {
    use super::{BLOCK, MAGNITUDES, SCALES, nvfp4_product};
    use crate::shortcuts::{Tolerance, no_constant_passes};
    use gpubench::{F8E4M3, Rng};

    #[test]
    fn the_reference_scales_blocks() {
        let (mut a, mut b) = ([0; BLOCK], [0x22; BLOCK]);
        // 0.5, -6 and 3, times 1 or -1.5.
        (a[0], a[BLOCK / 2], b[0]) = (0xf1, 0x50, 0xb2);
        let mut c = [0.0];
        // Scales of 1 and 1.125, and of 2 and 0.5.
        nvfp4_product(1, 1, 2 * BLOCK, &a, &[0x38, 0x39], &b, &[0x40, 0x30], &mut c);
        assert_eq!(c, [2.0 * (0.5 + 9.0) + 1.125 * 0.5 * 3.0]);
    }

    #[test]
    fn sums_of_the_longest_rows_do_not_round() {
        let square = |values: &mut dyn Iterator<Item = f64>| {
            let (count, sum) = values.fold((0.0, 0.0), |(count, sum), value| (count + 1.0, sum + value * value));
            sum / count
        };
        let element = square(&mut MAGNITUDES.into_iter());
        let scale = square(&mut SCALES.map(|bits| f64::from(F8E4M3::from_bits(bits).to_f32())));
        let deviation = 64.0 * element * scale * 1024.0;
        assert!(12.0 * deviation < f64::from(1 << 24), "{deviation}");
    }

    #[test]
    fn no_constant_answer_passes() {
        const ROWS: usize = 32;
        let mut rng = Rng::new(1);
        let mut draw = |range: std::ops::RangeInclusive<u8>, len: usize| {
            let count = u64::from(range.end() - range.start()) + 1;
            (0..len)
                .map(|_| range.start() + rng.below(count) as u8)
                .collect::<Vec<_>>()
        };
        let (a, b) = (draw(0..=255, ROWS * BLOCK), draw(0..=255, ROWS * BLOCK));
        let (a_scale, b_scale) = (draw(SCALES, ROWS * 2), draw(SCALES, ROWS * 2));
        let mut c = vec![0.0; ROWS * ROWS];
        nvfp4_product(ROWS, ROWS, 2 * BLOCK, &a, &a_scale, &b, &b_scale, &mut c);
        no_constant_passes(&c, Tolerance::EXACT);
    }
}
