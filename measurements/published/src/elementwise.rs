//! Elementwise kernels: one output element from one element of each input.

use crate::layout::{SAME_ROW, contiguous, with_layout};
use crate::numbers::{NORMAL, U};
use gpubench::prelude::*;

// The options of the crate's build. The definition is for the CPU device, because the kernels of
// 16-bit types are inside `#if __CUDA_ARCH__ >= …`.
cuda_source!(
    UNARY = "candle-kernels/unary.cu",
    options = ["--expt-relaxed-constexpr", "-std=c++17", "-O3", "-D__CUDA_ARCH__=800"]
);
cuda_source!(
    BINARY = "candle-kernels/binary.cu",
    options = ["--expt-relaxed-constexpr", "-std=c++17", "-O3", "-D__CUDA_ARCH__=800"]
);
cuda_source!(
    AFFINE = "candle-kernels/affine.cu",
    options = ["--expt-relaxed-constexpr", "-std=c++17", "-O3", "-D__CUDA_ARCH__=800"]
);
cuda_source!(
    TERNARY = "candle-kernels/ternary.cu",
    options = ["--expt-relaxed-constexpr", "-std=c++17", "-O3", "-D__CUDA_ARCH__=800"]
);
cuda_source!(
    CAST = "candle-kernels/cast.cu",
    options = ["--expt-relaxed-constexpr", "-std=c++17", "-O3", "-D__CUDA_ARCH__=800"]
);

/// The table of dimensions and strides may be null if all tensors are contiguous. The kernel then
/// ignores the number of dimensions.
const ONE_DIMENSION: usize = 1;

fn vectors(n: usize) -> Tensors {
    Tensors::new()
        .input("x", f32::shape(n), NORMAL)
        .output("y", f32::shape(n))
}

fn silu_on_cpu(_n: usize, x: &[f32], y: &mut [f32]) {
    for (&x, y) in x.iter().zip(y) {
        let x = f64::from(x);
        *y = (x / (1.0 + (-x).exp())) as f32;
    }
}

// `expf` has an error of 2 ulp, the sum and the quotient round once each, and the reference once
// more: 4 + 3, plus one for a quotient that is not correctly rounded.
#[gpubench(
    axes(n = [1 << 22]),
    cpu(axes(n = [100_003])),
    tensors = vectors,
    reference = silu_on_cpu,
    tolerance(rtol = 8.0 * U),
    bytes = 8 * n,
    flops = 3 * n,
)]
fn silu_f32(launcher: &mut Launcher, n: usize, x: In<f32>, y: Out<f32>) -> Result<()> {
    let arguments = (n, ONE_DIMENSION, Null, x, y);
    launcher.launch(UNARY.kernel("usilu_f32"), Grid::covering(n, 1024), arguments)
}

fn halves(n: usize) -> Tensors {
    Tensors::new()
        .input("x", F16::shape(n), NORMAL)
        .output("y", F16::shape(n))
}

fn exp_on_cpu(_n: usize, x: &[F16], y: &mut [F16]) {
    for (x, y) in x.iter().zip(y) {
        *y = F16::from_f32(f64::from(x.to_f32()).exp() as f32);
    }
}

// One unit in the last place of 11 significant bits.
#[gpubench(
    axes(n = [1 << 22]),
    cpu(axes(n = [100_003])),
    tensors = halves,
    reference = exp_on_cpu,
    tolerance(rtol = 1.0 / 1024.0),
    bytes = 4 * n,
    flops = n,
)]
fn exp_f16(launcher: &mut Launcher, n: usize, x: In<F16>, y: Out<F16>) -> Result<()> {
    let arguments = (n, ONE_DIMENSION, Null, x, y);
    launcher.launch(UNARY.kernel("uexp_f16"), Grid::covering(n, 1024), arguments)
}

fn two_vectors(n: usize) -> Tensors {
    Tensors::new()
        .input("a", f32::shape(n), NORMAL)
        .input("b", f32::shape(n), NORMAL)
        .output("sum", f32::shape(n))
}

fn add_on_cpu(_n: usize, a: &[f32], b: &[f32], sum: &mut [f32]) {
    for ((a, b), sum) in a.iter().zip(b).zip(sum) {
        *sum = a + b;
    }
}

#[gpubench(
    axes(n = [1 << 22]),
    cpu(axes(n = [100_003])),
    tensors = two_vectors,
    reference = add_on_cpu,
    exact,
    bytes = 12 * n,
    flops = n,
)]
fn add_f32(launcher: &mut Launcher, n: usize, a: In<f32>, b: In<f32>, sum: Out<f32>) -> Result<()> {
    let arguments = (n, ONE_DIMENSION, Null, a, b, sum);
    launcher.launch(BINARY.kernel("badd_f32"), Grid::covering(n, 1024), arguments)
}

fn matrix_and_row(rows: usize, columns: usize) -> Tensors {
    let tensors = Tensors::new()
        .input("matrix", f32::shape([rows, columns]), NORMAL)
        .input("row", f32::shape(columns), NORMAL)
        .output("product", f32::shape([rows, columns]));
    with_layout(tensors, [rows, columns], &[contiguous(columns), SAME_ROW])
}

fn mul_on_cpu(_rows: usize, columns: usize, _layout: &[u64], matrix: &[f32], row: &[f32], product: &mut [f32]) {
    for (matrix, product) in matrix.chunks_exact(columns).zip(product.chunks_exact_mut(columns)) {
        for ((a, b), product) in matrix.iter().zip(row).zip(product) {
            *product = a * b;
        }
    }
}

/// Multiplies every row of a matrix by the same row, which has a stride of zero.
#[allow(clippy::too_many_arguments)]
#[gpubench(
    axes(rows = [4096], columns = [1024]),
    cpu(axes(rows = [100], columns = [999])),
    tensors = matrix_and_row,
    reference = mul_on_cpu,
    exact,
    bytes = 8 * rows * columns + 4 * columns,
    flops = rows * columns,
)]
fn mul_f32_by_a_row(
    launcher: &mut Launcher,
    rows: usize,
    columns: usize,
    layout: Constant<u64>,
    matrix: In<f32>,
    row: In<f32>,
    product: Out<f32>,
) -> Result<()> {
    let elements = rows * columns;
    let arguments = (elements, 2usize, layout, matrix, row, product);
    launcher.launch(BINARY.kernel("bmul_f32"), Grid::covering(elements, 1024), arguments)
}

const FACTOR: f32 = 1.7;
const SUMMAND: f32 = -0.3;

fn bounded_vectors(n: usize) -> Tensors {
    Tensors::new()
        .input("x", f32::shape(n), Uniform(-1.0..1.0))
        .output("y", f32::shape(n))
}

fn affine_on_cpu(_n: usize, x: &[f32], y: &mut [f32]) {
    for (&x, y) in x.iter().zip(y) {
        *y = (f64::from(FACTOR) * f64::from(x) + f64::from(SUMMAND)) as f32;
    }
}

// The product is at most 1.7 and the sum at most 2. A fused operation does not round the product.
// The reference rounds too.
#[gpubench(
    axes(n = [1 << 22]),
    cpu(axes(n = [100_003])),
    tensors = bounded_vectors,
    reference = affine_on_cpu,
    tolerance(atol = (1.7 + 2.0 + 2.0) * U),
    bytes = 8 * n,
    flops = 2 * n,
)]
fn affine_f32(launcher: &mut Launcher, n: usize, x: In<f32>, y: Out<f32>) -> Result<()> {
    let arguments = (n, ONE_DIMENSION, Null, x, y, FACTOR, SUMMAND);
    launcher.launch(AFFINE.kernel("affine_f32"), Grid::covering(n, 1024), arguments)
}

fn choices(rows: usize, columns: usize) -> Tensors {
    let matrix = [rows, columns];
    let tensors = Tensors::new()
        .input("choice", u8::shape(matrix), Integers(0..=1))
        .input("yes", f32::shape(matrix), NORMAL)
        .input("no", f32::shape(matrix), NORMAL)
        .output("chosen", f32::shape(matrix));
    with_layout(tensors, matrix, &[contiguous(columns); 3])
}

#[allow(clippy::too_many_arguments)]
fn where_on_cpu(
    _rows: usize,
    _columns: usize,
    _layout: &[u64],
    choice: &[u8],
    yes: &[f32],
    no: &[f32],
    chosen: &mut [f32],
) {
    for (((&choice, &yes), &no), chosen) in choice.iter().zip(yes).zip(no).zip(chosen) {
        *chosen = if choice == 0 { no } else { yes };
    }
}

#[allow(clippy::too_many_arguments)]
#[gpubench(
    axes(rows = [4096], columns = [1024]),
    cpu(axes(rows = [100], columns = [999])),
    tensors = choices,
    reference = where_on_cpu,
    exact,
    bytes = 13 * rows * columns,
)]
fn where_u8_f32(
    launcher: &mut Launcher,
    rows: usize,
    columns: usize,
    layout: Constant<u64>,
    choice: In<u8>,
    yes: In<f32>,
    no: In<f32>,
    chosen: Out<f32>,
) -> Result<()> {
    let elements = rows * columns;
    let arguments = (elements, 2usize, layout, choice, yes, no, chosen);
    launcher.launch(
        TERNARY.kernel("where_u8_f32"),
        Grid::covering(elements, 1024),
        arguments,
    )
}

fn widened(n: usize) -> Tensors {
    Tensors::new()
        .input("x", BF16::shape(n), NORMAL)
        .output("y", f32::shape(n))
}

fn cast_on_cpu(_n: usize, x: &[BF16], y: &mut [f32]) {
    for (x, y) in x.iter().zip(y) {
        *y = x.to_f32();
    }
}

#[gpubench(
    axes(n = [1 << 22]),
    cpu(axes(n = [100_003])),
    tensors = widened,
    reference = cast_on_cpu,
    exact,
    bytes = 6 * n,
)]
fn cast_bf16_f32(launcher: &mut Launcher, n: usize, x: In<BF16>, y: Out<f32>) -> Result<()> {
    let arguments = (n, ONE_DIMENSION, Null, x, y);
    launcher.launch(CAST.kernel("cast_bf16_f32"), Grid::covering(n, 1024), arguments)
}
