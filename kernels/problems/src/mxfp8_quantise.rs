//! Quantisation to MXFP8, a format of the Open Compute Project's specification of microscaling
//! formats.

use gpubench::prelude::*;

cuda_source!(REFERENCE = "references/mxfp8_quantise.cu");

/// Elements that share a scale.
const BLOCK: usize = 32;

/// The exponent of 256, the largest power of two in E4M3.
const LARGEST_EXPONENT: u32 = 8;

/// Quantises blocks of 32 elements to E4M3 with a scale in E8M0.
///
/// The scale of a block is the largest power of two that is not above its largest magnitude,
/// divided by 2^8, and at least 2^-127. `scale` gets its exponent plus 127. A block of zeros has
/// the scale 2^-127. `q` gets the bits of each element divided by the scale, rounded to the nearest
/// number in E4M3, a tie to the even one. Magnitudes above 448 become 448. Zeros keep the sign of
/// the element.
///
/// Elements are finite. Both outputs are compared exactly.
#[problem(
    axes(blocks = [1 << 21, 1_500_007]),
    cpu(axes(blocks = [1024, 777])),
    cuda(reference = launch(by_search)),
    exact,
    bytes = blocks * (5 * 32 + 1),
    hidden(blocks = draw(1..1000), count = 4),
    limits(time = "5s", source = "64 KiB"),
)]
pub fn mxfp8_quantise(
    blocks: usize,
    #[fill(ByKernel(REFERENCE.kernel("blocks_apart")), [blocks, 32])] x: &[f32],
    #[shape([blocks, 32])] q: &mut [u8],
    #[shape(blocks)] scale: &mut [u8],
) {
    for block in 0..blocks {
        let (x, q) = (&x[block * BLOCK..][..BLOCK], &mut q[block * BLOCK..][..BLOCK]);
        let largest = x.iter().fold(0.0, |largest: f32, x| largest.max(x.abs()));
        // The exponent of a float has the bias of the scale.
        let biased = (largest.to_bits() >> 23).saturating_sub(LARGEST_EXPONENT);
        scale[block] = biased as u8;
        let factor = (127.0 - f64::from(biased)).exp2();
        for (&x, q) in x.iter().zip(q) {
            *q = F8E4M3::from_f32((f64::from(x) * factor) as f32).to_bits();
        }
    }
}

fn by_search(launcher: &mut Launcher, blocks: usize, x: In<f32>, q: Out<u8>, scale: Out<u8>) -> Result<()> {
    let n = blocks * BLOCK;
    launcher.launch(REFERENCE.kernel("by_search"), Grid::covering(n, 128), (x, q, scale, n))
}

#[cfg(test)]
mod tests {
    use super::{BLOCK, mxfp8_quantise};
    use crate::shortcuts::{Tolerance, no_constant_passes};
    use gpubench::Rng;

    #[test]
    fn the_reference_rounds_to_even_and_saturates() {
        let mut x = [0.0; 3 * BLOCK];
        // 1.75 is scaled to 448, 17/16 and 19/16 of it are between two numbers.
        x[..5].copy_from_slice(&[1.75, -1.0625, 1.1875, 1.95, -0.0]);
        x[BLOCK] = 1e-38;
        let (mut q, mut scale) = ([9; 3 * BLOCK], [9; 3]);
        mxfp8_quantise(3, &x, &mut q, &mut scale);
        assert_eq!(scale, [127 - 8, 0, 0]);
        assert_eq!(q[..6], [0x7e, 0xf8, 0x7a, 0x7e, 0x80, 0]);
        // 1e-38 times 2^127 is 1.7, between 1.625 and 1.75.
        assert_eq!(q[BLOCK..BLOCK + 2], [0x3e, 0]);
        assert_eq!(q[2 * BLOCK..], [0; BLOCK]);
    }

    #[test]
    fn no_constant_answer_passes() {
        let mut rng = Rng::new(1);
        let mut block = || {
            let scale = rng.uniform(-30.0, 30.0).exp2();
            [(); BLOCK].map(|()| (scale * rng.uniform(-1.0, 1.0)) as f32)
        };
        let x: Vec<f32> = (0..100).flat_map(|_| block()).collect();
        let (mut q, mut scale) = (vec![0; 100 * BLOCK], vec![0; 100]);
        mxfp8_quantise(100, &x, &mut q, &mut scale);
        no_constant_passes(&q, Tolerance::EXACT);
        no_constant_passes(&scale, Tolerance::EXACT);
    }
}
