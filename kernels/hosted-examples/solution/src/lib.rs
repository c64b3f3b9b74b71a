//! Functions that launch on the default stream, allocate and wait for the device.

use gpubench::prelude::*;

unsafe extern "C" {
    fn solution_vector_addition(a: *const f32, b: *const f32, sum: *mut f32, n: usize);
    fn solution_dot_product(a: *const f32, b: *const f32, product: *mut f32, n: usize);
}

fn two_vectors(n: usize) -> Tensors {
    Tensors::new()
        .input("a", f32::shape(n), Uniform(-1.0..1.0))
        .input("b", f32::shape(n), Uniform(-1.0..1.0))
}

fn add_on_cpu(_n: usize, a: &[f32], b: &[f32], sum: &mut [f32]) {
    for ((sum, a), b) in sum.iter_mut().zip(a).zip(b) {
        *sum = a + b;
    }
}

#[gpubench(
    hosted(sync),
    axes(n = [1 << 20, 1 << 24]),
    inputs = two_vectors(n).output("sum", f32::shape(n)),
    reference = add_on_cpu,
    exact,
    bytes = 12 * n,
    requires(cuda),
)]
fn vector_addition(cx: &mut Host, n: usize, a: In<f32>, b: In<f32>, sum: Out<f32>) -> Result<()> {
    let (a, b, sum) = (cx.pointer(a), cx.pointer(b), cx.pointer_mut(sum));
    cx.call(move || {
        // SAFETY: all three have `n` elements.
        unsafe { solution_vector_addition(a, b, sum, n) };
        Ok(())
    })
}

fn multiply_on_cpu(_n: usize, a: &[f32], b: &[f32], product: &mut [f32]) {
    let products = a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b));
    product[0] = products.sum::<f64>() as f32;
}

#[gpubench(
    hosted(sync),
    axes(n = [1 << 20, 1 << 24]),
    inputs = two_vectors(n).output("product", f32::shape(1)),
    reference = multiply_on_cpu,
    tolerance(rtol = 1e-6, atol = 1e-3),
    bytes = 8 * n,
    flops = 2 * n,
    requires(cuda),
)]
fn dot_product(cx: &mut Host, n: usize, a: In<f32>, b: In<f32>, product: Out<f32>) -> Result<()> {
    let (a, b, product) = (cx.pointer(a), cx.pointer(b), cx.pointer_mut(product));
    cx.call(move || {
        // SAFETY: the vectors have `n` elements, and the product has one.
        unsafe { solution_dot_product(a, b, product, n) };
        Ok(())
    })
}
