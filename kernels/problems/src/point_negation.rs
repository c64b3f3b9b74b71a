//! The negatives of points of an elliptic curve.

use gpubench::prelude::*;

cuda_source!(POINT_NEGATION_REFERENCE = "references/point_negation.cu");

/// The field's prime, 2^64 - 2^32 + 1.
const P: u64 = 0xffff_ffff_0000_0001;

/// Computes the negatives of points of an elliptic curve over a prime field.
///
/// The curve is y^2 = x^3 + a x + b, and the field the integers modulo p = 2^64 - 2^32 + 1. The
/// negative of (x, y) is (x, -y), whatever a and b are: both points are on the same curve.
/// Coordinates are from 0 to p - 1, and so are those of the results: the negative of 0 is 0, not p.
/// The two coordinates of a point follow each other.
#[problem(
    axes(n = [1 << 24, 10_000_019]),
    cpu(axes(n = [1 << 16, 50_021])),
    cuda(reference = launch(by_complement)),
    bytes = 32 * n,
    hidden(n = draw(1..=70_000), count = 5),
    limits(time = "10s", source = "64 KiB"),
)]
pub fn point_negation(
    n: usize,
    #[fill(ByKernel(POINT_NEGATION_REFERENCE.kernel("coordinates")), [n, 2])] points: &[u64],
    #[shape([n, 2])] negatives: &mut [u64],
) {
    for (point, negative) in points.chunks_exact(2).zip(negatives.chunks_exact_mut(2)).take(n) {
        negative[0] = point[0];
        negative[1] = (P - point[1]) % P;
    }
}

fn by_complement(launcher: &mut Launcher, n: usize, points: In<u64>, negatives: Out<u64>) -> Result<()> {
    let kernel = POINT_NEGATION_REFERENCE.kernel("by_complement");
    launcher.launch(kernel, Grid::covering(2 * n, 128), (points, negatives, 2 * n))
}

#[cfg(test)]
mod tests {
    use super::{P, point_negation};

    #[test]
    fn the_reference_negates_the_second_coordinate_alone() {
        let mut negatives = [9; 8];
        let points = [5, 0, P - 1, 1, 0, P - 1, 7, 1 << 63];
        point_negation(4, &points, &mut negatives);
        assert_eq!(negatives, [5, 0, P - 1, P - 1, 0, 1, 7, P - (1 << 63)]);
    }

    #[test]
    fn no_constant_answer_passes() {
        let mut rng = gpubench::Rng::new(1);
        let points: Vec<u64> = (0..1000).map(|_| rng.below(P)).collect();
        let mut negatives = vec![0; 1000];
        point_negation(500, &points, &mut negatives);
        let mut distinct = negatives.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), negatives.len());
    }
}
