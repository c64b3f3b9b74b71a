//! The product of two matrices in single precision.

use crate::rounding::random_sum;
use gpubench::prelude::*;

cuda_source!(MATMUL = "matmul.cu");
cuda_source!(MATMUL_REFERENCE = "references/matmul.cu");

/// The standard deviation of the product of two numbers drawn from -1 to 1, each with a variance of
/// 1/3.
const PRODUCT: f64 = 1.0 / 3.0;

fn in_double(launcher: &mut Launcher, m: usize, n: usize, k: usize, a: In<f32>, b: In<f32>, c: Out<f32>) -> Result<()> {
    let grid = Grid::covering((n, m), (32, 8));
    launcher.launch(MATMUL_REFERENCE.kernel("in_double"), grid, (a, b, c, m, n, k))
}

/// Multiplies two matrices in single precision: C = A B.
///
/// A has `m` rows and `k` columns, B has `k` rows and `n` columns, all stored by rows: `c[i][j]` is
/// the sum of `a[i][l] * b[l][j]` over all l.
///
/// Elements are drawn evenly from -1 to 1. The tolerance is for products and sums in `f32`, in any
/// order. Products of TF32 or of 16 bits are too rough.
//
// Factors have mean zero: their products cancel, so an error in a few of them shows.
#[problem(
    axes(m = [2048, 1999], n = [2048], k = [2048]),
    cpu(axes(m = [96, 61], n = [96], k = [100])),
    cuda(reference = launch(in_double)),
    bytes = 4 * (m * k + k * n + m * n),
    flops = 2 * m * n * k,
    hidden(m = draw(1..=120), n = draw(1..=120), k = draw(1..=200), count = 5),
    limits(time = "10s", source = "64 KiB"),
)]
pub fn matmul(
    m: usize,
    n: usize,
    k: usize,
    #[fill(Uniform(-1.0..1.0), [m, k])] a: &[f32],
    #[fill(Uniform(-1.0..1.0), [k, n])] b: &[f32],
    #[shape([m, n])]
    #[tolerance(atol = random_sum(k, PRODUCT))]
    c: &mut [f32],
) {
    let mut sums = vec![0.0f64; n];
    for row in 0..m {
        sums.fill(0.0);
        for i in 0..k {
            let left = f64::from(a[row * k + i]);
            for (sum, &right) in sums.iter_mut().zip(&b[i * n..][..n]) {
                *sum += left * f64::from(right);
            }
        }
        for (c, &sum) in c[row * n..][..n].iter_mut().zip(&sums) {
            *c = sum as f32;
        }
    }
}

#[gpubench(problem = matmul)]
fn naive(launcher: &mut Launcher, m: usize, n: usize, k: usize, a: In<f32>, b: In<f32>, c: Out<f32>) -> Result<()> {
    launcher.launch(
        MATMUL.kernel("naive"),
        Grid::covering((n, m), (32, 8)),
        (a, b, c, m, n, k),
    )
}

#[gpubench(problem = matmul)]
fn tiled(launcher: &mut Launcher, m: usize, n: usize, k: usize, a: In<f32>, b: In<f32>, c: Out<f32>) -> Result<()> {
    const TILE: usize = 16;
    let kernel = MATMUL.kernel(format!("tiled<{TILE}>"));
    launcher.launch(kernel, Grid::covering((n, m), (TILE, TILE)), (a, b, c, m, n, k))
}

#[gpubench(problem = matmul)]
fn register_tiled(
    launcher: &mut Launcher,
    m: usize,
    n: usize,
    k: usize,
    a: In<f32>,
    b: In<f32>,
    c: Out<f32>,
) -> Result<()> {
    const SIDE: usize = 16;
    const EACH: usize = 4;
    let kernel = MATMUL.kernel(format!("register_tiled<{SIDE},{EACH}>"));
    let tile = SIDE * EACH;
    let grid = Grid::new((n.div_ceil(tile), m.div_ceil(tile)), (SIDE, SIDE));
    launcher.launch(kernel, grid, (a, b, c, m, n, k))
}

#[cfg(test)]
mod tests {
    use super::{PRODUCT, matmul};
    use crate::rounding::random_sum;
    use crate::shortcuts::{Tolerance, no_constant_passes};
    use gpubench::Rng;

    #[test]
    fn the_reference_multiplies_rows_by_columns() {
        let mut c = [0.0; 4];
        matmul(
            2,
            2,
            3,
            &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
            &[7.0, 8.0, 9.0, 10.0, 11.0, 12.0],
            &mut c,
        );
        assert_eq!(c, [58.0, 64.0, 139.0, 154.0]);
    }

    #[test]
    fn no_constant_answer_passes() {
        const SIZE: usize = 48;
        let mut rng = Rng::new(1);
        let mut draw = || {
            (0..SIZE * SIZE)
                .map(|_| rng.uniform(-1.0, 1.0) as f32)
                .collect::<Vec<_>>()
        };
        let (a, b, mut c) = (draw(), draw(), vec![0.0; SIZE * SIZE]);
        matmul(SIZE, SIZE, SIZE, &a, &b, &mut c);
        let atol = random_sum(SIZE, PRODUCT);
        no_constant_passes(&c, Tolerance { rtol: 0.0, atol });
    }
}
