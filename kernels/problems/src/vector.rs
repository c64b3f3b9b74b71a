//! The sum of two vectors: pure memory traffic.

use gpubench::prelude::*;

cuda_source!(VECTOR = "vector.cu");
cuda_source!(VECTOR_REFERENCE = "references/vector.cu");

/// Two summands that do not cancel on average, so zero is far from every sum.
const SUMMANDS: Uniform = Uniform(-1.0..2.0);

/// Adds two vectors.
///
/// `c[i]` is `a[i] + b[i]`, correctly rounded: the comparison is exact.
// Exact: one addition, which IEEE 754 rounds the same way everywhere.
#[problem(
    axes(n = [1 << 24, (1 << 26) + 1]),
    cpu(axes(n = [1 << 18, 100_003])),
    cuda(reference = launch(add_in_double)),
    exact,
    bytes = 12 * n,
    flops = n,
    hidden(n = draw(1..=100_000), count = 5),
    limits(time = "10s", source = "64 KiB"),
)]
pub fn vector_add(n: usize, #[fill(SUMMANDS, n)] a: &[f32], #[fill(SUMMANDS, n)] b: &[f32], #[shape(n)] c: &mut [f32]) {
    for ((a, b), c) in a[..n].iter().zip(b).zip(c) {
        *c = a + b;
    }
}

fn add_in_double(launcher: &mut Launcher, n: usize, a: In<f32>, b: In<f32>, c: Out<f32>) -> Result<()> {
    launcher.launch(
        VECTOR_REFERENCE.kernel("add_in_double"),
        Grid::covering(n, 128),
        (a, b, c, n),
    )
}

#[gpubench(problem = vector_add)]
fn add(launcher: &mut Launcher, n: usize, a: In<f32>, b: In<f32>, c: Out<f32>) -> Result<()> {
    launcher.launch(VECTOR.kernel("add"), Grid::covering(n, 256), (a, b, c, n))
}

#[cfg(test)]
mod tests {
    use super::vector_add;
    use crate::shortcuts::{Tolerance, no_constant_passes};
    use gpubench::Rng;

    #[test]
    fn the_reference_adds_element_by_element() {
        let mut c = [0.0; 3];
        vector_add(3, &[1.0, 2.0, 3.0], &[0.5, -2.0, 4.0], &mut c);
        assert_eq!(c, [1.5, 0.0, 7.0]);
    }

    #[test]
    fn no_constant_answer_passes() {
        let mut rng = Rng::new(1);
        let mut draw = || (0..1000).map(|_| rng.uniform(-1.0, 2.0) as f32).collect::<Vec<_>>();
        let (a, b, mut c) = (draw(), draw(), vec![0.0; 1000]);
        vector_add(1000, &a, &b, &mut c);
        no_constant_passes(&c, Tolerance::EXACT);
    }
}
