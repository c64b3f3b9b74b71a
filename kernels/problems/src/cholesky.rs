//! Cholesky factors of small matrices, judged by what they multiply to.

use crate::rounding::U;
use gpubench::prelude::*;

cuda_source!(CHOLESKY_REFERENCE = "references/cholesky.cu");

/// How far an element of L L^T may be from that of A, as a multiple of the geometric mean of the
/// two diagonal elements of A in its row and column.
///
/// Whatever the order of its additions, a factorisation in `f32` returns the exact factor of a
/// matrix whose elements differ from those of A by at most (n + 1) U times the sum of the absolute
/// products of L (Higham, *Accuracy and Stability of Numerical Algorithms*, theorem 10.3). By the
/// inequality of Cauchy and Schwarz, that sum is at most the mean above. Divisions and roots of 2
/// ulp, or a product with a rounded reciprocal root, add 8 roundings in each element of L, which
/// count twice. The sum in the check is in double.
fn bound(n: usize) -> f64 {
    (n as f64 + 1.0 + 16.0) * U
}

/// Computes the Cholesky factor of each matrix of a batch.
///
/// Each `a[i]` is a symmetric positive definite matrix of n rows and n columns, by rows. Write the
/// lower triangular matrix L with positive diagonal and L L^T = `a[i]` to `l[i]`, also by rows, and
/// zeros above its diagonal.
///
/// A check multiplies L by its transpose in double. Each element must differ from that of A by at
/// most (n + 17) 2^-24 times the geometric mean of the two diagonal elements of A in its row and
/// its column: that is what rounding in `f32` can cause, in whatever order. Matrices are
/// conditioned differently, but no eigenvalue is below 1/8. n is at most 100.
#[problem(
    axes(batch = [2048], n = [64, 61]),
    cpu(axes(batch = [8], n = [32, 77])),
    bytes = 8 * batch * n * n,
    flops = batch * n * n * n / 3,
    hidden(batch = draw(1..=8), n = draw(1..=100), count = 16),
    limits(time = "10s", source = "64 KiB"),
)]
pub fn cholesky(
    batch: usize,
    n: usize,
    #[fill(ByKernel(CHOLESKY_REFERENCE.kernel(format!("positive_definite<{n}>"))), [batch, n, n])] a: &[f32],
    #[shape([batch, n, n])] l: Answer<f32>,
) -> Result<()> {
    let found = l.got();
    for matrix in 0..batch {
        let matrices = matrix * n * n..(matrix + 1) * n * n;
        if let Some(reason) = mistake(n, &a[matrices.clone()], &found[matrices]) {
            return Err(Error::new(format!("matrix {matrix}: {reason}")));
        }
    }
    Ok(())
}

/// Returns what is wrong with a factor.
fn mistake(n: usize, a: &[f32], l: &[f32]) -> Option<String> {
    let row = |row: usize| &l[row * n..][..n];
    for i in 0..n {
        // A NaN is not positive either.
        if !(l[i * n + i] > 0.0 && l[i * n + i].is_finite()) {
            return Some(format!("l[{i}][{i}] is {}, which is not positive", l[i * n + i]));
        }
        if let Some(j) = (i + 1..n).find(|&j| l[i * n + j] != 0.0) {
            return Some(format!("l[{i}][{j}] is {}, above the diagonal", l[i * n + j]));
        }
        for j in 0..=i {
            let products = row(i).iter().zip(row(j)).take(j + 1);
            let product: f64 = products.map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
            let expected = f64::from(a[i * n + j]);
            let scale = (f64::from(a[i * n + i]) * f64::from(a[j * n + j])).sqrt();
            let (off, allowed) = ((product - expected).abs(), bound(n) * scale);
            // The comparison with NaN is false.
            let is_right = off <= allowed;
            if !is_right {
                return Some(format!(
                    "row {i} times row {j} of L is {product}, not {expected} within {allowed:.1e}"
                ));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::mistake;
    use gpubench::Rng;

    /// A matrix and its factor, computed in `f32`.
    fn factored(n: usize) -> (Vec<f32>, Vec<f32>) {
        let mut rng = Rng::new(1);
        let mut made = vec![0.0f64; n * n];
        for i in 0..n {
            for j in 0..=i {
                made[i * n + j] = if i == j {
                    rng.uniform(0.25, 2.0)
                } else {
                    rng.uniform(-0.5, 0.5)
                };
            }
        }
        let mut a = vec![0.0f32; n * n];
        for (at, a) in a.iter_mut().enumerate() {
            let product: f64 = (0..n).map(|k| made[at / n * n + k] * made[at % n * n + k]).sum();
            *a = (product + if at / n == at % n { 0.125 } else { 0.0 }) as f32;
        }
        let mut l = vec![0.0f32; n * n];
        for j in 0..n {
            for i in j..n {
                let sum = (0..j).fold(a[i * n + j], |sum, k| sum - l[i * n + k] * l[j * n + k]);
                l[i * n + j] = if i == j { sum.sqrt() } else { sum / l[j * n + j] };
            }
        }
        (a, l)
    }

    #[test]
    fn the_check_accepts_a_literal_factor() {
        assert_eq!(mistake(2, &[4.0, 2.0, 2.0, 10.0], &[2.0, 0.0, 1.0, 3.0]), None);
    }

    #[test]
    fn the_check_accepts_a_factor_in_single_precision() {
        for n in [1, 7, 64] {
            let (a, l) = factored(n);
            assert_eq!(mistake(n, &a, &l), None);
        }
    }

    #[test]
    fn the_check_rejects_wrong_factors() {
        let (a, l) = factored(20);
        let changed = |at: usize, value: f32| {
            let mut l = l.clone();
            l[at] = value;
            mistake(20, &a, &l).is_some()
        };
        assert!(changed(3, 1e-20), "above the diagonal");
        assert!(changed(21, -l[21]), "a negative diagonal");
        assert!(changed(21, f32::NAN) && changed(40, f32::NAN), "not a number");
        assert!(changed(40, l[40] * 1.001), "an element that is off by a thousandth");
        assert!(changed(399, f32::from_bits(l[399].to_bits() & !0x1fff)), "TF32");
    }

    #[test]
    fn no_constant_answer_passes() {
        let (a, _) = factored(20);
        for constant in [0.0, 1.0, f32::NAN] {
            assert!(mistake(20, &a, &[constant; 400]).is_some());
        }
        let identity: Vec<f32> = (0..400).map(|at| f32::from(u8::from(at % 21 == 0))).collect();
        assert!(mistake(20, &a, &identity).is_some());
        assert!(mistake(20, &a, &a).is_some());
    }
}
