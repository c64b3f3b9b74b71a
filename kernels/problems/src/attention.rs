//! Scaled dot-product attention in single precision.

use crate::rounding::{U, random_sum};
use gpubench::prelude::*;

cuda_source!(REFERENCE = "references/attention.cu");

/// Elements of a query, a key and a value.
const WIDTH: usize = 64;

/// The most keys for which the tolerance allows a sum of one term after another.
const KEYS: usize = 2048;

/// Queries of a model that attends to few keys: scores have a standard deviation of 2. Then about
/// 40 of 2000 keys share most of the weight, and outputs are around a sixth.
const QUERIES: Normal = Normal { mean: 0.0, stddev: 2.0 };

/// The absolute error of an output.
///
/// - A score is a sum of `WIDTH` products with a standard deviation of 2, divided by 8. Its
///   difference to the largest score, below 25, is rounded once, and the exponential adds 2 ulp: 29
///   `U`. The exponential turns this absolute error into a relative one of the weight.
/// - Weights are positive, and partial sums grow evenly in the mean. Their roundings add a standard
///   deviation of `sqrt(KEYS) / 3` `U` to the sum of the weights, and about as much to that of the
///   weighted values. Twelve of both, of outputs around a sixth and seldom above 1.
/// - The rescaling of the online softmax: a few factors with 2 ulp each, 25 `U` in all, and the
///   quotient.
///
/// The error of each weight moves the output by its share of the distance of a value from the
/// output, which is up to twice that of a typical value if few keys share the weight.
fn error() -> f64 {
    let weight = random_sum(WIDTH, QUERIES.stddev) / 8.0 + 29.0 * U;
    let sums = 2.0 * 12.0 * (KEYS as f64).sqrt() / 3.0 * U;
    2.0 * weight + sums + 27.0 * U
}

/// Computes attention for each head: the softmax of Q Kᵀ / 8, by rows, times V.
///
/// All tensors have `heads` matrices of `n` rows and 64 columns. There is no mask. Products and
/// sums are in single precision or better, in any order. Factors rounded to TF32 or half precision
/// are not precise enough.
#[problem(
    axes(heads = [16], n = [2048, 1999]),
    cpu(axes(heads = [2], n = [64, 45])),
    cuda(reference = launch(in_double)),
    bytes = 4 * 4 * heads * n * 64,
    flops = 4 * heads * n * n * 64,
    hidden(heads = draw(1..4), n = draw(1..100), count = 4),
    limits(time = "5s", source = "64 KiB"),
)]
pub fn attention(
    heads: usize,
    n: usize,
    #[fill(QUERIES, [heads, n, 64])] q: &[f32],
    #[fill(Normal::STANDARD, [heads, n, 64])] k: &[f32],
    #[fill(Normal::STANDARD, [heads, n, 64])] v: &[f32],
    #[shape([heads, n, 64])]
    #[tolerance(atol = error())]
    out: &mut [f32],
) {
    for head in 0..heads {
        let of_head = head * n * WIDTH..(head + 1) * n * WIDTH;
        let (k, v) = (&k[of_head.clone()], &v[of_head.clone()]);
        let queries = q[of_head.clone()]
            .chunks_exact(WIDTH)
            .zip(out[of_head].chunks_exact_mut(WIDTH));
        for (q, out) in queries {
            let score = |k: &[f32]| k.iter().zip(q).map(|(&k, &q)| f64::from(k) * f64::from(q)).sum::<f64>() / 8.0;
            let scores: Vec<f64> = k.chunks_exact(WIDTH).map(score).collect();
            let largest = scores.iter().copied().fold(f64::MIN, f64::max);
            let (mut sum, mut weighted) = (0.0, [0.0; WIDTH]);
            for (score, v) in scores.iter().zip(v.chunks_exact(WIDTH)) {
                let weight = (score - largest).exp();
                sum += weight;
                for (weighted, &v) in weighted.iter_mut().zip(v) {
                    *weighted += weight * f64::from(v);
                }
            }
            for (out, weighted) in out.iter_mut().zip(weighted) {
                *out = (weighted / sum) as f32;
            }
        }
    }
}

fn in_double(
    launcher: &mut Launcher,
    heads: usize,
    n: usize,
    q: In<f32>,
    k: In<f32>,
    v: In<f32>,
    out: Out<f32>,
) -> Result<()> {
    let grid = Grid::new(heads * n, 64);
    launcher.launch(REFERENCE.kernel("in_double"), grid, (q, k, v, out, n))
}

#[cfg(test)]
mod tests {
    use super::{QUERIES, WIDTH, attention, error};
    use crate::shortcuts::{Tolerance, no_constant_passes};
    use gpubench::Rng;

    struct Tensors {
        q: Vec<f32>,
        k: Vec<f32>,
        v: Vec<f32>,
    }

    fn draw(n: usize) -> Tensors {
        let mut rng = Rng::new(1);
        let mut normal = |deviation| (0..n * WIDTH).map(|_| (deviation * rng.normal()) as f32).collect();
        Tensors {
            q: normal(QUERIES.stddev),
            k: normal(1.0),
            v: normal(1.0),
        }
    }

    #[test]
    fn the_reference_weighs_values_by_the_exponentials_of_scores() {
        let [mut q, mut k, mut v] = [[0.0; 2 * WIDTH]; 3];
        // The first query has scores of ln 3 and 0, the second one of 0 and 0.
        (q[5], k[5]) = (8.0, 3f32.ln());
        (v[0], v[WIDTH]) = (1.0, 5.0);
        let mut out = [9.0; 2 * WIDTH];
        attention(1, 2, &q, &k, &v, &mut out);
        assert!((out[0] - 2.0).abs() < 1e-6, "{}", out[0]);
        assert_eq!([out[1], out[WIDTH]], [0.0, 3.0]);
    }

    #[test]
    fn single_precision_stays_within_the_tolerance_and_inputs_of_half_the_precision_do_not() {
        const N: usize = 256;
        let all = draw(N);
        let mut out = vec![0.0; N * WIDTH];
        attention(1, N, &all.q, &all.k, &all.v, &mut out);
        let mut single = 0.0f64;
        for (q, out) in all.q.chunks_exact(WIDTH).zip(out.chunks_exact(WIDTH)) {
            let score = |k: &[f32]| k.iter().zip(q).fold(0.0f32, |sum, (k, q)| sum + k * q) / 8.0;
            let weights: Vec<f32> = all.k.chunks_exact(WIDTH).map(|k| score(k).exp()).collect();
            let sum: f32 = weights.iter().sum();
            for (column, out) in out.iter().enumerate() {
                let weighted = weights
                    .iter()
                    .enumerate()
                    .fold(0.0, |sum, (key, w)| sum + w * all.v[key * WIDTH + column]);
                single = single.max(f64::from((weighted / sum - out).abs()));
            }
        }
        assert!(single < error() / 2.0, "{single} of {}", error());

        // Rounded to 11 significant bits, as TF32 and half precision do.
        let halves = |all: &[f32]| {
            all.iter()
                .map(|x| f32::from_bits((x.to_bits() + (1 << 12)) & !((1 << 13) - 1)))
                .collect::<Vec<_>>()
        };
        let mut rough = vec![0.0; N * WIDTH];
        attention(1, N, &halves(&all.q), &halves(&all.k), &halves(&all.v), &mut rough);
        let largest = rough
            .iter()
            .zip(&out)
            .map(|(a, b)| f64::from((a - b).abs()))
            .fold(0.0, f64::max);
        assert!(largest > 5.0 * error(), "{largest} of {}", error());
    }

    #[test]
    fn no_constant_answer_passes() {
        let all = draw(64);
        let mut out = vec![0.0; 64 * WIDTH];
        attention(1, 64, &all.q, &all.k, &all.v, &mut out);
        no_constant_passes(
            &out,
            Tolerance {
                rtol: 0.0,
                atol: error(),
            },
        );
    }
}
