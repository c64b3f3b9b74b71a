//! The rectifier, an activation function.

use gpubench::prelude::*;

cuda_source!(REFERENCE = "references/relu.cu");

/// Computes max(0, x) for each element.
///
/// There is no NaN among the elements. The comparison is exact, and zeros of both signs are equal.
#[problem(
    axes(n = [1 << 26, 50_000_017]),
    cpu(axes(n = [1 << 16, 50_003])),
    cuda(reference = launch(by_sign)),
    exact,
    bytes = 8 * n,
    hidden(n = draw(1..50_000), count = 4),
    limits(time = "5s", source = "64 KiB"),
)]
pub fn relu(n: usize, #[fill(Normal::STANDARD, n)] x: &[f32], #[shape(n)] y: &mut [f32]) {
    for (x, y) in x[..n].iter().zip(y) {
        *y = x.max(0.0);
    }
}

fn by_sign(launcher: &mut Launcher, n: usize, x: In<f32>, y: Out<f32>) -> Result<()> {
    launcher.launch(REFERENCE.kernel("by_sign"), Grid::covering(n, 128), (x, y, n))
}

#[cfg(test)]
mod tests {
    use super::relu;
    use crate::shortcuts::{Tolerance, no_constant_passes};
    use gpubench::Rng;

    #[test]
    fn the_reference_keeps_positive_elements() {
        let mut y = [9.0; 4];
        relu(4, &[-1.5, 0.0, 2.5, -0.0], &mut y);
        assert_eq!(y, [0.0, 0.0, 2.5, 0.0]);
    }

    #[test]
    fn no_constant_is_right_where_elements_are_positive() {
        let mut rng = Rng::new(1);
        let x: Vec<f32> = (0..1000).map(|_| rng.normal() as f32).collect();
        let mut y = vec![0.0; 1000];
        relu(1000, &x, &mut y);
        y.retain(|&element| element > 0.0);
        assert!((400..600).contains(&y.len()), "{}", y.len());
        no_constant_passes(&y, Tolerance::EXACT);
    }
}
