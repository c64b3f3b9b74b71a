//! Benchmarks of GPU kernels in PTX: `cargo gpubench` runs them on a GPU. The CPU device cannot.

use gpubench::prelude::*;

cuda_source!(KERNELS = "kernels.ptx");

#[gpubench(axes(n = [1 << 20, 1 << 24]), requires(cuda), reference = twice_on_cpu, exact,
    launch = KERNELS.kernel("twice")<<<Grid::covering(n, 256)>>>(x, y, n))]
fn twice(n: usize, #[fill(Normal::STANDARD, n)] x: In<f32>, #[shape(n)] y: Out<f32>);

fn twice_on_cpu(_n: usize, x: &[f32], y: &mut [f32]) {
    for (x, y) in x.iter().zip(y) {
        *y = 2.0 * x;
    }
}
