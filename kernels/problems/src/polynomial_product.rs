//! Products of polynomials over a prime field.

use gpubench::prelude::*;

cuda_source!(POLYNOMIAL_REFERENCE = "references/polynomial_product.cu");

/// The field's prime, 15 * 2^27 + 1.
const P: u64 = 2_013_265_921;

/// Multiplies two polynomials with coefficients modulo p = 15 * 2^27 + 1.
///
/// `a[i]` and `b[i]` are the coefficients of x^i, `n` of each, and so are the 2 n - 1 elements of
/// `c`: `c[i]` is the sum of `a[j] * b[i - j]` over all j for which both exist, modulo p.
/// Coefficients are from 0 to p - 1, also those of the result. `n` is at most 2^19.
///
/// The field has roots of unity of order 2^27, such as powers of 31, which generates all residues
/// but 0. So a transform can replace the sums.
#[problem(
    axes(n = [1 << 16, 50_021]),
    cpu(axes(n = [512, 333])),
    cuda(reference = launch(term_by_term)),
    bytes = 8 * n + 4 * (2 * n - 1),
    hidden(n = draw(1..=700), count = 5),
    limits(time = "10s", source = "64 KiB"),
)]
pub fn polynomial_product(
    n: usize,
    #[fill(ByKernel(POLYNOMIAL_REFERENCE.kernel("coefficients")), n)] a: &[u32],
    #[fill(ByKernel(POLYNOMIAL_REFERENCE.kernel("coefficients")), n)] b: &[u32],
    #[shape(2 * n - 1)] c: &mut [u32],
) {
    for (i, c) in c.iter_mut().enumerate() {
        let first = (i + 1).saturating_sub(n);
        let products = (first..=i.min(n - 1)).map(|j| u64::from(a[j]) * u64::from(b[i - j]) % P);
        *c = (products.sum::<u64>() % P) as u32;
    }
}

fn term_by_term(launcher: &mut Launcher, n: usize, a: In<u32>, b: In<u32>, c: Out<u32>) -> Result<()> {
    let kernel = POLYNOMIAL_REFERENCE.kernel("term_by_term");
    launcher.launch(kernel, Grid::covering(2 * n - 1, 128), (a, b, c, n))
}

#[cfg(test)]
mod tests {
    use super::{P, polynomial_product};
    use crate::shortcuts::{Tolerance, no_constant_passes};
    use gpubench::Rng;

    #[test]
    fn the_reference_multiplies_coefficients_modulo_the_prime() {
        let mut c = [9; 5];
        let minus_one = P as u32 - 1;
        polynomial_product(3, &[1, 2, minus_one], &[3, 0, minus_one], &mut c);
        // (1 + 2 x - x^2) (3 - x^2) = 3 + 6 x - 4 x^2 - 2 x^3 + x^4
        assert_eq!(c, [3, 6, P as u32 - 4, P as u32 - 2, 1]);
    }

    #[test]
    fn a_generator_has_the_order_that_the_statement_says() {
        let power = |mut exponent: u64| {
            let (mut base, mut result) = (31, 1);
            while exponent > 0 {
                if exponent % 2 == 1 {
                    result = result * base % P;
                }
                base = base * base % P;
                exponent /= 2;
            }
            result
        };
        assert_eq!(power(P - 1), 1);
        for prime in [2, 3, 5] {
            assert_ne!(power((P - 1) / prime), 1);
        }
    }

    #[test]
    fn no_constant_answer_passes() {
        let mut rng = Rng::new(1);
        let mut draw = || (0..300).map(|_| rng.below(P) as u32).collect::<Vec<_>>();
        let (a, b, mut c) = (draw(), draw(), vec![0; 599]);
        polynomial_product(300, &a, &b, &mut c);
        no_constant_passes(&c, Tolerance::EXACT);
    }
}
