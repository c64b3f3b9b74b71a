//! Functions of each element.

use gpubench::prelude::*;

unsafe extern "C" {
    fn solution_vector_addition(a: *const f32, b: *const f32, c: *mut f32, n: usize);
    fn solution_leaky_relu(x: *const f32, alpha: f32, y: *mut f32, n: usize, m: usize);
    fn solution_threshold(x: *const f32, threshold: f32, y: *mut f32, height: usize, width: usize);
}

#[gpubench(
    hosted(sync),
    axes(n = [1 << 20]),
    tensors = Tensors::new()
        .input("a", f32::shape(n), Uniform(-1.0..1.0))
        .input("b", f32::shape(n), Uniform(-1.0..1.0))
        .output("c", f32::shape(n)),
    reference = |_, a: &[f32], b: &[f32], c: &mut [f32]| {
        c.iter_mut().zip(a.iter().zip(b)).for_each(|(c, (a, b))| *c = a + b);
    },
    exact,
    bytes = 12 * n,
    requires(cuda),
)]
fn vector_addition(host: &mut Host, n: usize, a: In<f32>, b: In<f32>, c: Out<f32>) -> Result<()> {
    let (a, b, c) = (host.pointer(a), host.pointer(b), host.pointer_mut(c));
    host.call(move || {
        // SAFETY: all three have `n` elements.
        unsafe { solution_vector_addition(a, b, c, n) };
        Ok(())
    })
}

fn matrix(n: usize) -> Tensors {
    Tensors::new()
        .input("x", f32::shape([n, n]), Uniform(-6.0..6.0))
        .output("y", f32::shape([n, n]))
}

/// Declares benchmarks of submissions that map a square matrix, with the function of an element.
macro_rules! maps {
    ($($name:ident = $solution:ident, $function:expr;)*) => {
        unsafe extern "C" {
            $(fn $solution(x: *const f32, y: *mut f32, n: usize, m: usize);)*
        }
        $(
            #[gpubench(
                hosted(sync),
                axes(n = [1024]),
                tensors = matrix(n),
                reference = |_, x: &[f32], y: &mut [f32]| {
                    let function: fn(f32) -> f32 = $function;
                    y.iter_mut().zip(x).for_each(|(y, x)| *y = function(*x));
                },
                tolerance(rtol = 1e-5, atol = 1e-6),
                bytes = 8 * n * n,
                requires(cuda),
            )]
            fn $name(host: &mut Host, n: usize, x: In<f32>, y: Out<f32>) -> Result<()> {
                let (x, y) = (host.pointer(x), host.pointer_mut(y));
                host.call(move || {
                    // SAFETY: both have `n * n` elements.
                    unsafe { $solution(x, y, n, n) };
                    Ok(())
                })
            }
        )*
    };
}

maps! {
    relu = solution_relu, |x| x.max(0.0);
    sigmoid = solution_sigmoid, |x| 1.0 / (1.0 + (-x).exp());
    hyperbolic_tangent = solution_tanh, f32::tanh;
    hard_sigmoid = solution_hard_sigmoid, |x| ((x + 3.0) / 6.0).clamp(0.0, 1.0);
}

const ALPHA: f32 = 0.01;

#[gpubench(
    hosted(sync),
    axes(n = [1024]),
    tensors = matrix(n),
    reference = |_, x: &[f32], y: &mut [f32]| {
        y.iter_mut().zip(x).for_each(|(y, x)| *y = if *x > 0.0 { *x } else { ALPHA * x });
    },
    tolerance(rtol = 1e-6),
    bytes = 8 * n * n,
    requires(cuda),
)]
fn leaky_relu(host: &mut Host, n: usize, x: In<f32>, y: Out<f32>) -> Result<()> {
    let (x, y) = (host.pointer(x), host.pointer_mut(y));
    host.call(move || {
        // SAFETY: both have `n * n` elements.
        unsafe { solution_leaky_relu(x, ALPHA, y, n, n) };
        Ok(())
    })
}

#[gpubench(
    hosted(sync),
    axes(n = [1024]),
    tensors = matrix(n),
    reference = |_, x: &[f32], y: &mut [f32]| {
        y.iter_mut().zip(x).for_each(|(y, x)| *y = if *x > 1.0 { 255.0 } else { 0.0 });
    },
    exact,
    bytes = 8 * n * n,
    requires(cuda),
)]
fn threshold(host: &mut Host, n: usize, x: In<f32>, y: Out<f32>) -> Result<()> {
    let (x, y) = (host.pointer(x), host.pointer_mut(y));
    host.call(move || {
        // SAFETY: both have `n * n` elements.
        unsafe { solution_threshold(x, 1.0, y, n, n) };
        Ok(())
    })
}
