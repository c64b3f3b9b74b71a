//! The product of two matrices in FP8.

use gpubench::prelude::*;

cuda_source!(REFERENCE = "references/fp8_product.cu");

/// Multiplies two matrices in FP8: C = A Bᵀ, where A has `m` rows, B has `n` rows, and both have
/// `k` columns.
///
/// All matrices are stored by rows. A and B are in E4M3, subnormal numbers included and NaN
/// excluded. Each row is small integers times a power of two, which differs from row to row. So
/// products are exact in `f32`, and no sum rounds, in any order: C is compared exactly. Sums of at
/// most 4096 products need no more than 14 bits, which tensor cores for FP8 keep.
#[problem(
    cases((m, n, k) = [(2048, 4096, 2048), (2001, 3003, 1009)]),
    cpu(cases((m, n, k) = [(64, 96, 64), (61, 45, 37)])),
    cuda(reference = launch(in_integers)),
    exact,
    bytes = m * k + k * n + 4 * m * n,
    flops = 2 * m * n * k,
    hidden(m = draw(1..80), n = draw(1..150), k = [1, 33, 96], count = 2),
    limits(time = "5s", source = "64 KiB"),
)]
pub fn fp8_product(
    m: usize,
    n: usize,
    k: usize,
    #[fill(ByKernel(REFERENCE.kernel(format!("rows_apart<{k}>"))), [m, k])] a: &[F8E4M3],
    #[fill(ByKernel(REFERENCE.kernel(format!("rows_apart<{k}>"))), [n, k])] b: &[F8E4M3],
    #[shape([m, n])] c: &mut [f32],
) {
    for row in 0..m {
        for column in 0..n {
            let factors = a[row * k..][..k].iter().zip(&b[column * k..][..k]);
            let products = factors.map(|(a, b)| f64::from(a.to_f32()) * f64::from(b.to_f32()));
            c[row * n + column] = products.sum::<f64>() as f32;
        }
    }
}

fn in_integers(
    launcher: &mut Launcher,
    m: usize,
    n: usize,
    k: usize,
    a: In<F8E4M3>,
    b: In<F8E4M3>,
    c: Out<f32>,
) -> Result<()> {
    let grid = Grid::covering((n, m), (32, 8));
    launcher.launch(REFERENCE.kernel("in_integers"), grid, (a, b, c, m, n, k))
}

#[cfg(test)]
mod tests {
    use super::fp8_product;
    use crate::shortcuts::{Tolerance, no_constant_passes};
    use gpubench::{F8E4M3, Rng};

    #[test]
    fn the_reference_multiplies_rows_by_rows() {
        let [a, b] = [[1.0, 2.0, -3.0, 0.001953125], [7.0, 8.0, 10.0, 256.0]].map(|all| all.map(F8E4M3::from_f32));
        let mut c = [0.0; 4];
        fp8_product(2, 2, 2, &a, &b, &mut c);
        assert_eq!(c, [23.0, 522.0, -21.0 + 0.015625, -29.5]);
    }

    /// As the kernel `small_integer` draws them.
    fn small_integer(rng: &mut Rng) -> f32 {
        let reach = if rng.below(8) == 0 { 15 } else { 3 };
        rng.below(2 * reach + 1) as f32 - reach as f32
    }

    #[test]
    fn sums_of_the_longest_rows_need_at_most_14_bits() {
        let mut rng = Rng::new(1);
        let products = (0..100_000).map(|_| f64::from(small_integer(&mut rng) * small_integer(&mut rng)).powi(2));
        let deviation = (products.sum::<f64>() / 1e5 * 4096.0).sqrt();
        assert!(9.0 * deviation < 8192.0, "{deviation}");
    }

    #[test]
    fn no_constant_answer_passes() {
        const SIZE: usize = 32;
        let mut rng = Rng::new(1);
        let mut draw = || {
            let row = |_| {
                let unit = (rng.below(14) as f32 - 9.0).exp2();
                [(); SIZE].map(|()| F8E4M3::from_f32(unit * small_integer(&mut rng)))
            };
            (0..SIZE).flat_map(row).collect::<Vec<_>>()
        };
        let (a, b, mut c) = (draw(), draw(), vec![0.0; SIZE * SIZE]);
        fp8_product(SIZE, SIZE, SIZE, &a, &b, &mut c);
        no_constant_passes(&c, Tolerance::EXACT);
    }
}
