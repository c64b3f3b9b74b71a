//! The product of two matrices in MXFP8, a format of the Open Compute Project's specification of
//! microscaling formats.

use gpubench::prelude::*;

cuda_source!(REFERENCE = "references/mxfp8_product.cu");

/// Elements that share a scale.
const BLOCK: usize = 32;

/// The power of two that 8 bits of E8M0 stand for.
fn from_e8m0(bits: u8) -> f64 {
    (f64::from(bits) - 127.0).exp2()
}

/// Multiplies two matrices in MXFP8: C = A Bᵀ, where A has `m` rows, B has `n` rows, and both have
/// `k` columns.
///
/// All matrices are stored by rows. A and B are in MXFP8: 32 neighbouring elements of a row, in
/// E4M3, share a scale in E8M0, which is 2 to the power of its bits less 127. `k` is a multiple of
/// 32, and `a_scale` and `b_scale` have `k / 32` columns. Both tensors hold the bits.
///
/// Elements are subnormal numbers too, and no NaN, nor is a scale. With their scales they are
/// multiples of 1/4 and at most 60, so that no product rounds in `f32`, and no sum does, in any
/// order: C is compared exactly.
#[allow(clippy::too_many_arguments)]
#[problem(
    cases((m, n, k) = [(2048, 4096, 2048), (2001, 3003, 1056)]),
    cpu(cases((m, n, k) = [(64, 96, 64), (41, 61, 96)])),
    cuda(reference = launch(block_by_block)),
    exact,
    bytes = (m + n) * (k + k / 32) + 4 * m * n,
    flops = 2 * m * n * k,
    hidden(m = draw(1..60), n = draw(1..150), k = [32, 96], count = 2),
    limits(time = "5s", source = "64 KiB"),
)]
pub fn mxfp8_product(
    m: usize,
    n: usize,
    k: usize,
    #[fill(ByKernel(REFERENCE.kernel("elements")), [m, k])] a: &[u8],
    #[fill(ByKernel(REFERENCE.kernel("scales")), [m, k / 32])] a_scale: &[u8],
    #[fill(ByKernel(REFERENCE.kernel("elements")), [n, k])] b: &[u8],
    #[fill(ByKernel(REFERENCE.kernel("scales")), [n, k / 32])] b_scale: &[u8],
    #[shape([m, n])] c: &mut [f32],
) {
    let number = |elements: &[u8], scales: &[u8], index: usize| {
        f64::from(F8E4M3::from_bits(elements[index]).to_f32()) * from_e8m0(scales[index / BLOCK])
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
fn block_by_block(
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
    launcher.launch(REFERENCE.kernel("block_by_block"), grid, arguments)
}

#[cfg(test)]
mod tests {
    use super::{BLOCK, mxfp8_product};
    use crate::shortcuts::{Tolerance, no_constant_passes};
    use gpubench::{F8E4M3, Rng};

    #[test]
    fn the_reference_scales_blocks() {
        let mut a = [0; 2 * BLOCK];
        let mut b = [0x38; 2 * BLOCK];
        // 1, 2^-9 and -448, times 1 or 448.
        (a[0], a[1], a[BLOCK], b[1]) = (0x38, 0x01, 0xfe, 0x7e);
        let mut c = [0.0];
        mxfp8_product(1, 1, 2 * BLOCK, &a, &[127, 130], &b, &[128, 124], &mut c);
        assert_eq!(c, [2.0 * (1.0 + 448.0 / 512.0) - 448.0]);
    }

    #[test]
    fn no_constant_answer_passes() {
        let mut rng = Rng::new(1);
        let mut draw = || {
            let element = |_| F8E4M3::from_f32(rng.below(31) as f32 - 15.0).to_bits();
            let elements: Vec<u8> = (0..BLOCK * BLOCK).map(element).collect();
            let scales: Vec<u8> = (0..BLOCK).map(|_| 125 + rng.below(5) as u8).collect();
            (elements, scales)
        };
        let ((a, a_scale), (b, b_scale)) = (draw(), draw());
        let mut c = vec![0.0; BLOCK * BLOCK];
        mxfp8_product(BLOCK, BLOCK, BLOCK, &a, &a_scale, &b, &b_scale, &mut c);
        no_constant_passes(&c, Tolerance::EXACT);
    }
}
