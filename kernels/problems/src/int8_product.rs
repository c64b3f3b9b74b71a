//! The product of two matrices of 8-bit integers.

use gpubench::prelude::*;

cuda_source!(REFERENCE = "references/int8_product.cu");

/// Multiplies two matrices of 8-bit integers: C = A Bᵀ, where A has `m` rows, B has `n` rows, and
/// both have `k` columns.
///
/// All matrices are stored by rows. A and B have all values from -128 to 127. C is compared
/// exactly, and its elements fit into 32 bits.
#[problem(
    cases((m, n, k) = [(2048, 4096, 2048), (2001, 3003, 1009)]),
    cpu(cases((m, n, k) = [(64, 96, 64), (61, 45, 37)])),
    cuda(reference = launch(last_to_first)),
    exact,
    bytes = m * k + k * n + 4 * m * n,
    flops = 2 * m * n * k,
    hidden(m = draw(1..80), n = draw(1..150), k = draw(1..150), count = 4),
    limits(time = "5s", source = "64 KiB"),
)]
pub fn int8_product(
    m: usize,
    n: usize,
    k: usize,
    #[fill(Bits, [m, k])] a: &[i8],
    #[fill(Bits, [n, k])] b: &[i8],
    #[shape([m, n])] c: &mut [i32],
) {
    for row in 0..m {
        for column in 0..n {
            let factors = a[row * k..][..k].iter().zip(&b[column * k..][..k]);
            c[row * n + column] = factors.map(|(&a, &b)| i32::from(a) * i32::from(b)).sum();
        }
    }
}

fn last_to_first(
    launcher: &mut Launcher,
    m: usize,
    n: usize,
    k: usize,
    a: In<i8>,
    b: In<i8>,
    c: Out<i32>,
) -> Result<()> {
    let grid = Grid::covering((n, m), (32, 8));
    launcher.launch(REFERENCE.kernel("last_to_first"), grid, (a, b, c, m, n, k))
}

#[cfg(test)]
mod tests {
    use super::int8_product;
    use crate::shortcuts::{Tolerance, no_constant_passes};
    use gpubench::Rng;

    #[test]
    fn the_reference_multiplies_rows_by_rows() {
        let mut c = [0; 4];
        int8_product(2, 2, 2, &[-128, 127, 1, 0], &[-128, -128, 3, 4], &mut c);
        assert_eq!(c, [128, 124, -128, 3]);
    }

    #[test]
    fn no_constant_answer_passes() {
        const SIZE: usize = 32;
        let mut rng = Rng::new(1);
        let mut draw = || (0..SIZE * SIZE).map(|_| rng.next_u32() as i8).collect::<Vec<_>>();
        let (a, b, mut c) = (draw(), draw(), vec![0; SIZE * SIZE]);
        int8_product(SIZE, SIZE, SIZE, &a, &b, &mut c);
        no_constant_passes(&c, Tolerance::EXACT);
    }
}
