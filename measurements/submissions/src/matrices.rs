//! Matrix products and reductions.

use std::ffi::c_int;

use gpubench::prelude::*;

unsafe extern "C" {
    fn solution_matrix_multiplication(a: *const f32, b: *const f32, c: *mut f32, m: usize, n: usize, k: usize);
    fn solution_lower_trig_matmul(a: *const f32, b: *const f32, c: *mut f32, n: usize);
    fn solution_argmax(x: *const f32, dim: c_int, y: *mut i32, shape: *const c_int, ndim: c_int);
    fn solution_cumsum(x: *const f32, y: *mut f32, n: usize);
}

fn two_matrices(n: usize) -> Tensors {
    Tensors::new()
        .input("a", f32::shape([n, n]), Uniform(-1.0..1.0))
        .input("b", f32::shape([n, n]), Uniform(-1.0..1.0))
        .output("c", f32::shape([n, n]))
}

/// Multiplies two matrices of which only the elements that `includes` names count.
fn multiply(n: usize, a: &[f32], b: &[f32], c: &mut [f32], includes: impl Fn(usize, usize) -> bool) {
    let mut sums = vec![0.0f64; n];
    for (row, c) in c.chunks_exact_mut(n).enumerate() {
        sums.fill(0.0);
        for k in (0..n).filter(|k| includes(row, *k)) {
            let factor = f64::from(a[row * n + k]);
            for column in (0..n).filter(|column| includes(k, *column)) {
                sums[column] += factor * f64::from(b[k * n + column]);
            }
        }
        for (c, sum) in c.iter_mut().zip(&sums) {
            *c = *sum as f32;
        }
    }
}

#[gpubench(
    hosted(sync),
    axes(n = [256]),
    tensors = two_matrices(n),
    reference = |n, a: &[f32], b: &[f32], c: &mut [f32]| multiply(n, a, b, c, |_, _| true),
    tolerance(rtol = 1e-4, atol = 1e-4),
    bytes = 12 * n * n,
    flops = 2 * n * n * n,
    requires(cuda),
)]
fn matrix_multiplication(host: &mut Host, n: usize, a: In<f32>, b: In<f32>, c: Out<f32>) -> Result<()> {
    let (a, b, c) = (host.pointer(a), host.pointer(b), host.pointer_mut(c));
    host.call(move || {
        // SAFETY: all three have `n * n` elements.
        unsafe { solution_matrix_multiplication(a, b, c, n, n, n) };
        Ok(())
    })
}

/// Sets the output to zero with `cudaMemset` first.
#[gpubench(
    hosted(sync),
    axes(n = [256]),
    tensors = two_matrices(n),
    reference = |n, a: &[f32], b: &[f32], c: &mut [f32]| multiply(n, a, b, c, |row, column| column <= row),
    tolerance(rtol = 1e-4, atol = 1e-4),
    requires(cuda),
)]
fn lower_triangular_product(host: &mut Host, n: usize, a: In<f32>, b: In<f32>, c: Out<f32>) -> Result<()> {
    let (a, b, c) = (host.pointer(a), host.pointer(b), host.pointer_mut(c));
    host.call(move || {
        // SAFETY: all three have `n * n` elements.
        unsafe { solution_lower_trig_matmul(a, b, c, n) };
        Ok(())
    })
}

/// The shape is in host memory.
#[gpubench(
    hosted(sync),
    axes(rows = [1024], columns = [64]),
    tensors = Tensors::new()
        .input("x", f32::shape([rows, columns]), Uniform(-1.0..1.0))
        .output("y", i32::shape(rows)),
    reference = |_, columns, x: &[f32], y: &mut [i32]| {
        for (row, y) in x.chunks_exact(columns).zip(y) {
            let first_of = |best: usize, at: usize| if row[at] > row[best] { at } else { best };
            *y = (0..columns).fold(0, first_of) as i32;
        }
    },
    exact,
    requires(cuda),
)]
fn argmax(host: &mut Host, rows: usize, columns: usize, x: In<f32>, y: Out<i32>) -> Result<()> {
    let (x, y, shape) = (host.pointer(x), host.pointer_mut(y), [rows as c_int, columns as c_int]);
    host.call(move || {
        // SAFETY: the tensors have these shapes.
        unsafe { solution_argmax(x, 1, y, shape.as_ptr(), 2) };
        Ok(())
    })
}

/// One thread adds everything up.
#[gpubench(
    hosted(sync),
    axes(n = [4096]),
    tensors = Tensors::new().input("x", f32::shape(n), Uniform(0.0..1.0)).output("y", f32::shape(n)),
    reference = |_, x: &[f32], y: &mut [f32]| {
        let mut sum = 0.0;
        for (x, y) in x.iter().zip(y) {
            sum += f64::from(*x);
            *y = sum as f32;
        }
    },
    tolerance(rtol = 1e-4),
    requires(cuda),
)]
fn cumulative_sum(host: &mut Host, n: usize, x: In<f32>, y: Out<f32>) -> Result<()> {
    let (x, y) = (host.pointer(x), host.pointer_mut(y));
    host.call(move || {
        // SAFETY: both have `n` elements.
        unsafe { solution_cumsum(x, y, n) };
        Ok(())
    })
}
