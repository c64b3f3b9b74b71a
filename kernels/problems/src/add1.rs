//! y = x + 1, the simplest kernel. Its time in other tools is known, so it shows the overhead of
//! this one.

use gpubench::prelude::*;

cuda_source!(ADD1 = "add1.cu");
cuda_source!(ADD1_REFERENCE = "references/add1.cu");

/// Adds one to each element of a vector.
///
/// `y[i]` is `x[i] + 1`, correctly rounded: the comparison is exact.
// Exact: one addition, which IEEE 754 rounds the same way everywhere.
#[problem(
    axes(n = [1 << 10, 1 << 21, 1 << 26]),
    cpu(axes(n = [1 << 10, 1 << 18])),
    cuda(reference = launch(add1_by_four)),
    exact,
    bytes = 8 * n,
    flops = n,
    hidden(n = draw(1..=100_000), count = 5),
    limits(time = "10s", source = "64 KiB"),
)]
pub fn add_one(n: usize, #[fill(Uniform(0.0..1.0), n)] x: &[f32], #[shape(n)] y: &mut [f32]) {
    for (x, y) in x[..n].iter().zip(y) {
        *y = x + 1.0;
    }
}

fn add1_by_four(launcher: &mut Launcher, n: usize, x: In<f32>, y: Out<f32>) -> Result<()> {
    launcher.launch(
        ADD1_REFERENCE.kernel("add1_by_four"),
        Grid::covering(n.div_ceil(4), 128),
        (x, y, n),
    )
}

#[gpubench(problem = add_one)]
fn add1(launcher: &mut Launcher, n: usize, x: In<f32>, y: Out<f32>) -> Result<()> {
    launcher.launch(ADD1.kernel("add1"), Grid::covering(n, 256), (x, y, n))
}

#[cfg(test)]
mod tests {
    use super::add_one;
    use crate::shortcuts::{Tolerance, no_constant_passes};
    use gpubench::Rng;

    #[test]
    fn the_reference_adds_one() {
        let mut y = [0.0; 3];
        add_one(3, &[1.0, 0.5, -1.0], &mut y);
        assert_eq!(y, [2.0, 1.5, 0.0]);
    }

    #[test]
    fn no_constant_answer_passes() {
        let mut rng = Rng::new(1);
        let x: Vec<f32> = (0..1000).map(|_| rng.f32()).collect();
        let mut y = vec![0.0; 1000];
        add_one(1000, &x, &mut y);
        no_constant_passes(&y, Tolerance::EXACT);
    }
}
