//! Kernels that reduce or normalise every row of a matrix.

use crate::layout::{contiguous, with_layout};
use crate::numbers::{NORMAL, U};
use gpubench::prelude::*;

// Same options as in `elementwise`.
cuda_source!(
    REDUCE = "candle-kernels/reduce.cu",
    options = ["--expt-relaxed-constexpr", "-std=c++17", "-O3", "-D__CUDA_ARCH__=800"]
);
cuda_source!(
    SORT = "candle-kernels/sort.cu",
    options = ["--expt-relaxed-constexpr", "-std=c++17", "-O3", "-D__CUDA_ARCH__=800"]
);

/// One block per row. The number of threads is a power of two.
fn block_a_row(rows: usize, columns: usize) -> Grid {
    Grid::new(rows, columns.next_power_of_two().min(1024))
}

fn positive_matrix(rows: usize, columns: usize) -> Tensors {
    let tensors = Tensors::new()
        .input("x", f32::shape([rows, columns]), Uniform(0.0..1.0))
        .output("sums", f32::shape(rows));
    with_layout(tensors, [rows, columns], &[contiguous(columns)])
}

fn sum_on_cpu(_rows: usize, columns: usize, _layout: &[u64], x: &[f32], sums: &mut [f32]) {
    for (x, sum) in x.chunks_exact(columns).zip(sums) {
        *sum = x.iter().map(|&x| f64::from(x)).sum::<f64>() as f32;
    }
}

// At most 8 additions per thread and two sets of 5 across lanes, all of positive numbers. The
// reference rounds once.
#[gpubench(
    axes(rows = [4096], columns = [1024]),
    cpu(axes(rows = [64], columns = [999])),
    tensors = positive_matrix,
    reference = sum_on_cpu,
    tolerance(rtol = 19.0 * U),
    bytes = 4 * rows * columns + 4 * rows,
    flops = rows * (columns - 1),
)]
fn sum_f32(
    launcher: &mut Launcher,
    rows: usize,
    columns: usize,
    layout: Constant<u64>,
    x: In<f32>,
    sums: Out<f32>,
) -> Result<()> {
    let arguments = (rows * columns, columns, 2usize, layout, x, sums);
    launcher.launch(REDUCE.kernel("fast_sum_f32"), block_a_row(rows, columns), arguments)
}

/// Each row has the numbers from 0 in another order. No two of its elements are equal, so the
/// sorted order is unique.
fn shuffled(rows: usize, columns: usize, outputs_a_row: usize) -> Tensors {
    Tensors::new()
        .input("x", f32::shape([rows, columns]), ByCpu)
        .output("index", u32::shape([rows, outputs_a_row]))
        .generate(move |rng: &mut Rng, data: &mut CpuData| {
            for row in data.slice::<f32>("x").chunks_exact_mut(columns) {
                for (number, x) in row.iter_mut().enumerate() {
                    *x = number as f32;
                }
                rng.shuffle(row);
            }
        })
}

fn argmax_on_cpu(_rows: usize, columns: usize, _layout: &[u64], x: &[f32], index: &mut [u32]) {
    for (x, index) in x.chunks_exact(columns).zip(index) {
        let mut largest = 0;
        for (column, value) in x.iter().enumerate() {
            if *value > x[largest] {
                largest = column;
            }
        }
        *index = largest as u32;
    }
}

#[gpubench(
    axes(rows = [1024], columns = [1024]),
    cpu(axes(rows = [64], columns = [999])),
    tensors = with_layout(shuffled(rows, columns, 1), [rows, columns], &[contiguous(columns)]),
    reference = argmax_on_cpu,
    bytes = 4 * rows * columns + 4 * rows,
)]
fn argmax_f32(
    launcher: &mut Launcher,
    rows: usize,
    columns: usize,
    layout: Constant<u64>,
    x: In<f32>,
    index: Out<u32>,
) -> Result<()> {
    let arguments = (rows * columns, columns, 2usize, layout, x, index);
    launcher.launch(REDUCE.kernel("fast_argmax_f32"), block_a_row(rows, columns), arguments)
}

fn logits(rows: usize, columns: usize) -> Tensors {
    Tensors::new()
        .input("x", f32::shape([rows, columns]), NORMAL)
        .output("y", f32::shape([rows, columns]))
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

// The difference between an element and the largest one is at most 12 and rounds once; `expf` has
// an error of 2 ulp: 16, for the numerator and for the terms of the sum. The sum has 32 additions
// per thread and 5 across lanes. The reciprocal, the product and the reference round once each.
#[gpubench(
    axes(rows = [4096], columns = [1024]),
    cpu(axes(rows = [64], columns = [999])),
    tensors = logits,
    reference = softmax_on_cpu,
    tolerance(rtol = (16.0 + 16.0 + 37.0 + 3.0) * U),
    bytes = 8 * rows * columns,
    flops = 5 * rows * columns,
)]
fn softmax_f32(launcher: &mut Launcher, rows: usize, columns: usize, x: In<f32>, y: Out<f32>) -> Result<()> {
    let arguments = (x, y, i32::try_from(columns)?);
    launcher.launch(REDUCE.kernel("softmax_f32"), Grid::new(rows, (1, 32)), arguments)
}

const EPSILON: f32 = 1e-5;

fn activations(rows: usize, columns: usize) -> Tensors {
    Tensors::new()
        .input("x", f32::shape([rows, columns]), NORMAL)
        .input("gain", f32::shape(columns), Uniform(0.5..1.5))
        .output("y", f32::shape([rows, columns]))
}

fn rms_norm_on_cpu(_rows: usize, columns: usize, x: &[f32], gain: &[f32], y: &mut [f32]) {
    for (x, y) in x.chunks_exact(columns).zip(y.chunks_exact_mut(columns)) {
        let mean = x.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>() / columns as f64;
        let scale = 1.0 / (mean + f64::from(EPSILON)).sqrt();
        for ((&x, &gain), y) in x.iter().zip(gain).zip(y) {
            *y = (scale * f64::from(x) * f64::from(gain)) as f32;
        }
    }
}

// The mean of squares: each square rounds once, then at most 32 additions per thread and 10 across
// lanes, the division, and the sum with epsilon: 45. The root halves that. `rsqrtf` has an error of
// 2 ulp; the two products and the reference round once each.
#[gpubench(
    axes(rows = [4096], columns = [1024]),
    cpu(axes(rows = [64], columns = [999])),
    tensors = activations,
    reference = rms_norm_on_cpu,
    tolerance(rtol = (22.5 + 4.0 + 3.0) * U),
    bytes = 8 * rows * columns + 4 * columns,
    flops = 4 * rows * columns,
)]
fn rms_norm_f32(launcher: &mut Launcher, rows: usize, columns: usize, x: In<f32>, gain: In<f32>, y: Out<f32>) -> Result<()> {
    let threads: i32 = if columns < 1024 { 32 } else { 1024 };
    let arguments = (x, y, gain, i32::try_from(columns)?, threads, EPSILON);
    launcher.launch(REDUCE.kernel("rmsnorm_f32"), Grid::new(rows, threads), arguments)
}

fn argsort_on_cpu(_rows: usize, columns: usize, x: &[f32], index: &mut [u32]) {
    for (x, index) in x.chunks_exact(columns).zip(index.chunks_exact_mut(columns)) {
        for (column, index) in index.iter_mut().enumerate() {
            *index = column as u32;
        }
        index.sort_by(|&a, &b| x[a as usize].total_cmp(&x[b as usize]));
    }
}

#[gpubench(
    axes(rows = [1024], columns = [1000]),
    cpu(axes(rows = [16], columns = [500])),
    tensors = shuffled(rows, columns, columns),
    reference = argsort_on_cpu,
    bytes = 8 * rows * columns,
)]
fn argsort_f32(launcher: &mut Launcher, rows: usize, columns: usize, x: In<f32>, index: Out<u32>) -> Result<()> {
    let padded = columns.next_power_of_two();
    let grid = block_a_row(rows, columns).shared(4 * padded);
    let arguments = (x, index, i32::try_from(columns)?, i32::try_from(padded)?);
    launcher.launch(SORT.kernel("asort_asc_f32"), grid, arguments)
}
