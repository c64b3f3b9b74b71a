//! Functions that launch on the default stream, allocate and wait for the device. Each is in a
//! library of its own, since others wrote it.

use gpubench::prelude::*;

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
    hosted(sync, library = env!("SOLUTIONS_VECTOR_ADDITION")),
    axes(n = [1 << 20, 1 << 24]),
    tensors = two_vectors(n).output("sum", f32::shape(n)),
    reference = add_on_cpu,
    exact,
    bytes = 12 * n,
    requires(cuda),
)]
fn vector_addition(library: &mut Library, n: usize, a: In<f32>, b: In<f32>, sum: Out<f32>) -> Result<()> {
    library.call("solution", (a, b, sum, n))
}

fn multiply_on_cpu(_n: usize, a: &[f32], b: &[f32], product: &mut [f32]) {
    let products = a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b));
    product[0] = products.sum::<f64>() as f32;
}

#[gpubench(
    hosted(sync, library = env!("SOLUTIONS_DOT_PRODUCT")),
    axes(n = [1 << 20, 1 << 24]),
    tensors = two_vectors(n).output("product", f32::shape(1)),
    reference = multiply_on_cpu,
    tolerance(rtol = 1e-6, atol = 1e-3),
    bytes = 8 * n,
    flops = 2 * n,
    requires(cuda),
)]
fn dot_product(library: &mut Library, n: usize, a: In<f32>, b: In<f32>, product: Out<f32>) -> Result<()> {
    library.call("solution", (a, b, product, n))
}
