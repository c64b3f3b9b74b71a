//! The product of two matrices in half precision, with sums in single precision.

use gpubench::prelude::*;
use std::ops::RangeInclusive;

cuda_source!(REFERENCE = "references/fp16_product.cu");

/// Whole numbers of nine bits, which half precision holds and narrower formats do not.
const LEFT: RangeInclusive<i32> = -511..=511;

/// The products of both ranges are so small that 4096 of them add up to less than 2^24, where
/// sums in `f32` do not round.
const RIGHT: RangeInclusive<i32> = -7..=7;

/// Multiplies two matrices in half precision: C = A B, where A has `m` rows and `k` columns
/// and B has `k` rows and `n` columns.
///
/// All matrices are stored by rows. Products and sums are in single precision. The elements are
/// whole numbers so small that no sum rounds, in any order, so C is compared exactly. Tensor cores
/// are welcome. Accumulation in half precision is not precise enough, and neither are factors in a
/// narrower format.
#[problem(
    cases((m, n, k) = [(2048, 4096, 2048), (2001, 3003, 1009)]),
    cpu(cases((m, n, k) = [(64, 96, 64), (61, 45, 37)])),
    cuda(reference = launch(in_integers)),
    exact,
    bytes = 2 * (m * k + k * n) + 4 * m * n,
    flops = 2 * m * n * k,
    hidden(m = draw(1..80), n = draw(1..150), k = draw(1..100), count = 4),
    limits(time = "5s", source = "64 KiB"),
)]
pub fn fp16_product(
    m: usize,
    n: usize,
    k: usize,
    #[fill(Integers(LEFT), [m, k])] a: &[F16],
    #[fill(Integers(RIGHT), [k, n])] b: &[F16],
    #[shape([m, n])] c: &mut [f32],
) {
    for row in 0..m {
        for column in 0..n {
            let products = (0..k).map(|i| f64::from(a[row * k + i].to_f32()) * f64::from(b[i * n + column].to_f32()));
            c[row * n + column] = products.sum::<f64>() as f32;
        }
    }
}

fn in_integers(
    launcher: &mut Launcher,
    m: usize,
    n: usize,
    k: usize,
    a: In<F16>,
    b: In<F16>,
    c: Out<f32>,
) -> Result<()> {
    let grid = Grid::covering((n, m), (32, 8));
    launcher.launch(REFERENCE.kernel("in_integers"), grid, (a, b, c, m, n, k))
}

#[cfg(test)]
mod tests {
    use super::{LEFT, RIGHT, fp16_product};
    use crate::shortcuts::{Tolerance, no_constant_passes};
    use gpubench::{F16, Rng};
    use std::ops::RangeInclusive;

    #[test]
    fn the_reference_multiplies_rows_by_columns() {
        let [a, b] =
            [[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [7.0, 8.0, 9.0, 10.0, 11.0, 12.0]].map(|all| all.map(F16::from_f32));
        let mut c = [0.0; 4];
        fp16_product(2, 2, 3, &a, &b, &mut c);
        assert_eq!(c, [58.0, 64.0, 139.0, 154.0]);
    }

    #[test]
    fn sums_of_the_longest_rows_do_not_round() {
        assert!(4096 * LEFT.end() * RIGHT.end() < 1 << 24);
    }

    #[test]
    fn no_constant_answer_passes() {
        const SIZE: usize = 32;
        let mut rng = Rng::new(1);
        let mut draw = |range: RangeInclusive<i32>| {
            let count = (range.end() - range.start() + 1) as u64;
            (0..SIZE * SIZE)
                .map(|_| F16::from_f32((range.start() + rng.below(count) as i32) as f32))
                .collect::<Vec<_>>()
        };
        let (a, b, mut c) = (draw(LEFT), draw(RIGHT), vec![0.0; SIZE * SIZE]);
        fp16_product(SIZE, SIZE, SIZE, &a, &b, &mut c);
        no_constant_passes(&c, Tolerance::EXACT);
    }
}
