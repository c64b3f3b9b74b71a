//! Convolutions and pooling.

use gpubench::prelude::*;

unsafe extern "C" {
    fn solution_conv_1d(x: *const f32, kernel: *const f32, y: *mut f32, n: usize, k: usize);
    fn solution_avg_pool_1d(x: *const f32, width: usize, stride: usize, padding: usize, y: *mut f32, n: usize);
}

#[gpubench(
    hosted(sync),
    axes(n = [1 << 16], k = [63]),
    tensors = Tensors::new()
        .input("x", f32::shape(n), Uniform(-1.0..1.0))
        .input("kernel", f32::shape(k), Uniform(-1.0..1.0))
        .output("y", f32::shape(n)),
    reference = |n, k, x: &[f32], kernel: &[f32], y: &mut [f32]| {
        let before = (k - 1) / 2;
        for (at, y) in y.iter_mut().enumerate() {
            let product = |j: usize| match (at + j).checked_sub(before) {
                Some(from) if from < n => f64::from(x[from]) * f64::from(kernel[j]),
                _ => 0.0,
            };
            *y = (0..k).map(product).sum::<f64>() as f32;
        }
    },
    tolerance(rtol = 1e-4, atol = 1e-5),
    bytes = 8 * n,
    flops = 2 * n * k,
    requires(cuda),
)]
fn convolution(host: &mut Host, n: usize, k: usize, x: In<f32>, kernel: In<f32>, y: Out<f32>) -> Result<()> {
    let (x, kernel, y) = (host.pointer(x), host.pointer(kernel), host.pointer_mut(y));
    host.call(move || {
        // SAFETY: the kernel has `k` elements, and the others have `n`.
        unsafe { solution_conv_1d(x, kernel, y, n, k) };
        Ok(())
    })
}

const WIDTH: usize = 4;
const STRIDE: usize = 2;

#[gpubench(
    hosted(sync),
    axes(n = [1 << 20]),
    tensors = Tensors::new()
        .input("x", f32::shape(n), Uniform(-1.0..1.0))
        .output("y", f32::shape((n - WIDTH) / STRIDE + 1)),
    reference = |_, x: &[f32], y: &mut [f32]| {
        for (y, x) in y.iter_mut().zip(x.windows(WIDTH).step_by(STRIDE)) {
            *y = x.iter().sum::<f32>() / WIDTH as f32;
        }
    },
    tolerance(rtol = 1e-5, atol = 1e-6),
    bytes = 6 * n,
    requires(cuda),
)]
fn average_pooling(host: &mut Host, n: usize, x: In<f32>, y: Out<f32>) -> Result<()> {
    let (x, y) = (host.pointer(x), host.pointer_mut(y));
    host.call(move || {
        // SAFETY: the tensors have these sizes.
        unsafe { solution_avg_pool_1d(x, WIDTH, STRIDE, 0, y, n) };
        Ok(())
    })
}
