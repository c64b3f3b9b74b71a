//! A product of matrices with a bias and a rectifier: a layer of a neural network.

use crate::rounding::{U, random_sum};
use gpubench::prelude::*;

cuda_source!(REFERENCE = "references/gemm_relu.cu");

/// The standard deviation of the product of two numbers drawn from -1 to 1, each with a variance of
/// 1/3.
const PRODUCT: f64 = 1.0 / 3.0;

/// The bias is about as large as the sums, so it decides on the sign of many.
const BIAS: Normal = Normal { mean: 0.0, stddev: 8.0 };

/// The bias adds one rounding to those of the sum, of a number below 12 standard deviations of the
/// sum plus 5.5 of the bias. The rectifier adds no error.
fn error(k: usize) -> f64 {
    let largest = 12.0 * PRODUCT * (k as f64).sqrt() + 5.5 * BIAS.stddev;
    random_sum(k, PRODUCT) + U * largest
}

/// Computes C = max(0, A B + bias), where A has `m` rows and `k` columns and B has `k` rows and `n`
/// columns.
///
/// All matrices are stored by rows. `bias` has an element for each column of C. Products and sums
/// are in single precision or better, in any order. Factors rounded to TF32 or half precision are
/// not precise enough.
#[problem(
    cases((m, n, k) = [(2048, 2048, 2048), (1999, 1537, 1031)]),
    cpu(cases((m, n, k) = [(64, 96, 64), (61, 45, 37)])),
    cuda(reference = launch(in_double)),
    bytes = 4 * (m * k + k * n + n + m * n),
    flops = 2 * m * n * k,
    hidden(m = draw(1..80), n = draw(1..150), k = draw(1..100), count = 4),
    limits(time = "5s", source = "64 KiB"),
)]
pub fn gemm_relu(
    m: usize,
    n: usize,
    k: usize,
    #[fill(Uniform(-1.0..1.0), [m, k])] a: &[f32],
    #[fill(Uniform(-1.0..1.0), [k, n])] b: &[f32],
    #[fill(BIAS, n)] bias: &[f32],
    #[shape([m, n])]
    #[tolerance(atol = error(k))]
    c: &mut [f32],
) {
    for row in 0..m {
        for column in 0..n {
            let products = (0..k).map(|i| f64::from(a[row * k + i]) * f64::from(b[i * n + column]));
            c[row * n + column] = (products.sum::<f64>() + f64::from(bias[column])).max(0.0) as f32;
        }
    }
}

#[allow(clippy::too_many_arguments)]
fn in_double(
    launcher: &mut Launcher,
    m: usize,
    n: usize,
    k: usize,
    a: In<f32>,
    b: In<f32>,
    bias: In<f32>,
    c: Out<f32>,
) -> Result<()> {
    let grid = Grid::covering((n, m), (32, 8));
    launcher.launch(REFERENCE.kernel("in_double"), grid, (a, b, bias, c, m, n, k))
}

#[cfg(test)]
mod tests {
    use super::{BIAS, error, gemm_relu};
    use crate::shortcuts::{Tolerance, no_constant_passes};
    use gpubench::Rng;

    #[test]
    fn the_reference_adds_the_bias_of_the_column_before_it_rectifies() {
        let mut c = [0.0; 4];
        gemm_relu(
            2,
            2,
            2,
            &[1.0, 2.0, 3.0, 4.0],
            &[5.0, 6.0, 7.0, 8.0],
            &[-20.0, 0.5],
            &mut c,
        );
        assert_eq!(c, [0.0, 22.5, 23.0, 50.5]);
    }

    #[test]
    fn no_constant_is_right_where_the_rectifier_passes() {
        const SIZE: usize = 48;
        let mut rng = Rng::new(1);
        let bias: Vec<f32> = (0..SIZE).map(|_| (BIAS.stddev * rng.normal()) as f32).collect();
        let mut draw = || {
            (0..SIZE * SIZE)
                .map(|_| rng.uniform(-1.0, 1.0) as f32)
                .collect::<Vec<_>>()
        };
        let (a, b, mut c) = (draw(), draw(), vec![0.0; SIZE * SIZE]);
        gemm_relu(SIZE, SIZE, SIZE, &a, &b, &bias, &mut c);
        c.retain(|&element| element > 0.0);
        assert!((SIZE * SIZE / 4..SIZE * SIZE * 3 / 4).contains(&c.len()), "{}", c.len());
        no_constant_passes(
            &c,
            Tolerance {
                rtol: 0.0,
                atol: error(SIZE),
            },
        );
    }
}
