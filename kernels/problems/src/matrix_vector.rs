//! The product of a matrix and a vector in single precision.

use crate::rounding::random_sum;
use gpubench::prelude::*;

cuda_source!(REFERENCE = "references/matrix_vector.cu");

/// The standard deviation of the product of two numbers drawn from -1 to 1, each with a variance of
/// 1/3.
const PRODUCT: f64 = 1.0 / 3.0;

/// Computes y = A x, where A has `m` rows and `k` columns.
///
/// A is stored by rows. Products and sums are in single precision or better, in any order. Factors
/// rounded to TF32 or half precision are not precise enough.
#[problem(
    cases((m, k) = [(8192, 8192), (16001, 4099)]),
    cpu(cases((m, k) = [(128, 512), (93, 333)])),
    cuda(reference = launch(in_double)),
    bytes = 4 * (m * k + k + m),
    flops = 2 * m * k,
    hidden(m = draw(1..200), k = draw(1..700), count = 4),
    limits(time = "5s", source = "64 KiB"),
)]
pub fn matrix_vector(
    m: usize,
    k: usize,
    #[fill(Uniform(-1.0..1.0), [m, k])] a: &[f32],
    #[fill(Uniform(-1.0..1.0), k)] x: &[f32],
    #[shape(m)]
    #[tolerance(atol = random_sum(k, PRODUCT))]
    y: &mut [f32],
) {
    for (row, y) in a.chunks_exact(k).zip(&mut y[..m]) {
        let products = row.iter().zip(x).map(|(&a, &x)| f64::from(a) * f64::from(x));
        *y = products.sum::<f64>() as f32;
    }
}

fn in_double(launcher: &mut Launcher, m: usize, k: usize, a: In<f32>, x: In<f32>, y: Out<f32>) -> Result<()> {
    launcher.launch(REFERENCE.kernel("in_double"), Grid::new(m, 64), (a, x, y, k))
}

#[cfg(test)]
mod tests {
    use super::{PRODUCT, matrix_vector};
    use crate::rounding::random_sum;
    use crate::shortcuts::{Tolerance, no_constant_passes};
    use gpubench::Rng;

    #[test]
    fn the_reference_multiplies_each_row() {
        let mut y = [0.0; 2];
        matrix_vector(2, 3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[1.0, 10.0, -100.0], &mut y);
        assert_eq!(y, [-279.0, -546.0]);
    }

    #[test]
    fn no_constant_answer_passes() {
        let mut rng = Rng::new(1);
        let mut draw = |len| (0..len).map(|_| rng.uniform(-1.0, 1.0) as f32).collect::<Vec<_>>();
        let (a, x, mut y) = (draw(200 * 100), draw(100), vec![0.0; 200]);
        matrix_vector(200, 100, &a, &x, &mut y);
        let atol = random_sum(100, PRODUCT);
        no_constant_passes(&y, Tolerance { rtol: 0.0, atol });
    }
}
