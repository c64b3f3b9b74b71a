//! Products in a prime field of 32-bit elements, as number-theoretic transforms use them.

use gpubench::prelude::*;

cuda_source!(MODULAR = "modular.cu");
cuda_source!(MODULAR_REFERENCE = "references/modular.cu");

/// The field's prime, 15 * 2^27 + 1.
const P: u64 = 2_013_265_921;

fn by_doubling(launcher: &mut Launcher, n: usize, a: In<u32>, b: In<u32>, c: Out<u32>) -> Result<()> {
    launcher.launch(
        MODULAR_REFERENCE.kernel("by_doubling"),
        Grid::covering(n, 128),
        (a, b, c, n),
    )
}

/// Multiplies the elements of two vectors in a prime field.
///
/// `c[i]` is `a[i] * b[i]` modulo p = 15 * 2^27 + 1 = 2013265921. All elements are from 0 to p - 1,
/// also those of the result. One in eight is 0, 1 or p - 1.
#[problem(
    axes(n = [1 << 24, 10_000_019]),
    cpu(axes(n = [1 << 17, 100_003])),
    cuda(reference = launch(by_doubling)),
    bytes = 12 * n,
    hidden(n = draw(1..=100_000), count = 5),
    limits(time = "10s", source = "64 KiB"),
)]
pub fn product(
    n: usize,
    #[fill(ByKernel(MODULAR_REFERENCE.kernel("residues")), n)] a: &[u32],
    #[fill(ByKernel(MODULAR_REFERENCE.kernel("residues")), n)] b: &[u32],
    #[shape(n)] c: &mut [u32],
) {
    for ((&a, &b), c) in a[..n].iter().zip(b).zip(c) {
        *c = (u64::from(a) * u64::from(b) % P) as u32;
    }
}

#[gpubench(problem = product)]
fn long_remainder(launcher: &mut Launcher, n: usize, a: In<u32>, b: In<u32>, c: Out<u32>) -> Result<()> {
    launcher.launch(MODULAR.kernel("long_remainder"), Grid::covering(n, 256), (a, b, c, n))
}

#[gpubench(problem = product)]
fn montgomery(launcher: &mut Launcher, n: usize, a: In<u32>, b: In<u32>, c: Out<u32>) -> Result<()> {
    launcher.launch(MODULAR.kernel("montgomery"), Grid::covering(n, 256), (a, b, c, n))
}

#[cfg(test)]
mod tests {
    use super::{P, product};
    use crate::shortcuts::{Tolerance, no_constant_passes};
    use gpubench::Rng;

    #[test]
    fn the_reference_is_right_at_the_edges() {
        let edge = P as u32 - 1;
        let mut c = [0; 4];
        product(4, &[edge, edge, 0, 1 << 30], &[edge, 2, edge, 4], &mut c);
        // (-1)(-1) = 1, (-1) 2 = -2, and 2^32 = 2 (15 * 2^27 + 1) + 2^28 - 2.
        assert_eq!(c, [1, edge - 1, 0, (1 << 28) - 2]);
    }

    #[test]
    fn no_constant_answer_passes() {
        let mut rng = Rng::new(1);
        let mut draw = || (0..1000).map(|_| rng.below(P) as u32).collect::<Vec<_>>();
        let (a, b, mut c) = (draw(), draw(), vec![0; 1000]);
        product(1000, &a, &b, &mut c);
        no_constant_passes(&c, Tolerance::EXACT);
    }
}
