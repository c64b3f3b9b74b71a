//! Operations of candle, which allocates its results and chooses its stream. Each call ends with a
//! copy of candle's result to the tool's output.

mod device;

use candle_nn::ops::softmax_last_dim;
use device::Device;
use gpubench::prelude::*;

/// Half the distance from 1 to the next larger `f32`.
const U: f64 = f32::EPSILON as f64 / 2.0;

fn logits(rows: usize, columns: usize) -> Tensors {
    Tensors::new()
        .input("x", f32::shape([rows, columns]), Uniform(-4.0..4.0))
        .output("y", f32::shape([rows, columns]))
        // Each of 32 threads adds up its part of a row, and the threads add theirs in 5 steps. An
        // exponential has an error of 12 units: 8 of its argument, which is at most 8, and 4 of
        // `expf`. It is in the dividend and in the divisor. Three more roundings: the reciprocal,
        // the product, and that of the reference.
        .tolerance((columns.div_ceil(32) + 5 + 2 * 12 + 3) as f64 * U, 0.0)
}

fn softmax_on_cpu(_rows: usize, columns: usize, x: &[f32], y: &mut [f32]) {
    for (x, y) in x.chunks_exact(columns).zip(y.chunks_exact_mut(columns)) {
        let largest = x.iter().copied().fold(f32::MIN, f32::max);
        let exponential = |x: &f32| (f64::from(*x) - f64::from(largest)).exp();
        let sum: f64 = x.iter().map(exponential).sum();
        for (x, y) in x.iter().zip(y) {
            *y = (exponential(x) / sum) as f32;
        }
    }
}

#[gpubench(
    hosted(sync),
    axes(rows = [4096], columns = [1024]),
    tensors = logits,
    reference = softmax_on_cpu,
    bytes = 8 * rows * columns,
    requires(cuda),
)]
fn softmax(host: &mut Host, rows: usize, columns: usize, x: In<f32>, y: Out<f32>) -> Result<()> {
    let device = Device::new(host)?;
    let (x, y) = (host.pointer(x), host.pointer_mut(y));
    // SAFETY: the tensors have these shapes, and live until the process ends.
    let (x, mut y) = unsafe { (device.input(x, &[rows, columns]), device.output(y, rows * columns)) };
    let mut softmax = move || device.copy(&softmax_last_dim(&x)?, &mut y);
    // In the first call, the driver compiles the PTX of candle's kernels.
    softmax()?;
    host.call(softmax)
}

fn matrices(n: usize) -> Tensors {
    Tensors::new()
        .input("a", f32::shape([n, n]), Uniform(-1.0..1.0))
        .input("b", f32::shape([n, n]), Uniform(-1.0..1.0))
        .output("c", f32::shape([n, n]))
        // A sum of `n` products of numbers from -1 to 1. Its parts are about √n large, and `n`
        // roundings of them add up like a random walk: to about n · 2⁻²⁴. Sixteen times that.
        .tolerance(0.0, 1e-6 * n as f64)
}

fn product_on_cpu(n: usize, a: &[f32], b: &[f32], c: &mut [f32]) {
    let mut sums = vec![0.0; n];
    for (a, c) in a.chunks_exact(n).zip(c.chunks_exact_mut(n)) {
        sums.fill(0.0);
        for (a, b) in a.iter().zip(b.chunks_exact(n)) {
            for (sum, b) in sums.iter_mut().zip(b) {
                *sum += f64::from(*a) * f64::from(*b);
            }
        }
        for (c, sum) in c.iter_mut().zip(&sums) {
            *c = *sum as f32;
        }
    }
}

/// candle calls cuBLAS.
#[gpubench(
    hosted(sync),
    axes(n = [256, 1000]),
    tensors = matrices,
    reference = product_on_cpu,
    bytes = 12 * n * n,
    flops = 2 * n * n * n,
    requires(cuda),
)]
fn matmul(host: &mut Host, n: usize, a: In<f32>, b: In<f32>, c: Out<f32>) -> Result<()> {
    let device = Device::new(host)?;
    let (a, b, c) = (host.pointer(a), host.pointer(b), host.pointer_mut(c));
    // SAFETY: the tensors have these shapes, and live until the process ends.
    let (a, b, mut c) = unsafe {
        (
            device.input(a, &[n, n]),
            device.input(b, &[n, n]),
            device.output(c, n * n),
        )
    };
    let mut matmul = move || device.copy(&a.matmul(&b)?, &mut c);
    // In the first call, cuBLAS loads its kernels.
    matmul()?;
    host.call(matmul)
}

#[cfg(test)]
mod tests {
    use candle_core::{Device, Result, Tensor};

    use super::*;

    #[test]
    fn candle_on_the_cpu_agrees_with_the_reference_of_softmax() -> Result<()> {
        let (rows, columns) = (3, 1000);
        let x = Tensor::rand(-4f32, 4f32, (rows, columns), &Device::Cpu)?;
        let mut expected = vec![0.0; rows * columns];
        softmax_on_cpu(rows, columns, &elements(&x)?, &mut expected);
        assert_close(&elements(&softmax_last_dim(&x)?)?, &expected, 1e-7);
        Ok(())
    }

    #[test]
    fn candle_on_the_cpu_agrees_with_the_reference_of_matmul() -> Result<()> {
        let n = 100;
        let a = Tensor::rand(-1f32, 1f32, (n, n), &Device::Cpu)?;
        let b = Tensor::rand(-1f32, 1f32, (n, n), &Device::Cpu)?;
        let mut expected = vec![0.0; n * n];
        product_on_cpu(n, &elements(&a)?, &elements(&b)?, &mut expected);
        assert_close(&elements(&a.matmul(&b)?)?, &expected, 1e-4);
        Ok(())
    }

    fn elements(tensor: &Tensor) -> Result<Vec<f32>> {
        tensor.flatten_all()?.to_vec1()
    }

    fn assert_close(actual: &[f32], expected: &[f32], tolerance: f32) {
        assert_eq!(actual.len(), expected.len());
        for (index, (actual, expected)) in actual.iter().zip(expected).enumerate() {
            assert!(
                (actual - expected).abs() <= tolerance,
                "{index}: {actual}, not {expected}"
            );
        }
    }
}
