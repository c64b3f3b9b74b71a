//! Benchmarks of GPU kernels in Rust: `cargo gpubench` runs them on a GPU. The CPU device cannot.

use gpubench::prelude::*;

// `kernels/add1.rs` says how it is made.
cuda_source!(KERNELS = "../kernels/add1.ptx");

#[gpubench(axes(n = [1 << 10, 1 << 21, 1 << 26]), requires(cuda), reference = add_on_cpu, exact,
    launch = KERNELS.kernel("add1")<<<Grid::covering(n, 256)>>>(x, y, n))]
fn add1(n: usize, #[fill(Uniform(-100.0..100.0), n)] x: In<f32>, #[shape(n)] y: Out<f32>);

fn add_on_cpu(_n: usize, x: &[f32], y: &mut [f32]) {
    for (x, y) in x.iter().zip(y) {
        *y = x + 1.0;
    }
}
