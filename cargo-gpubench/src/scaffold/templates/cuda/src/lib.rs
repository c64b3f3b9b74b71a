//! Benchmarks of GPU kernels: `cargo gpubench` runs them.

use gpubench::prelude::*;

cuda_source!(KERNELS = "kernels.cu");

/// Sums of rows. The function computes the right answer, with which every call is compared.
#[problem(axes(rows = [4096], cols = [1024, 16384]), cpu(axes(rows = [64])), reduction = cols)]
fn row_sums(
    rows: usize,
    cols: usize,
    #[fill(Uniform(0.0..1.0), [rows, cols])] x: &[f32],
    #[shape(rows)] sums: &mut [f32],
) {
    for (row, sum) in x.chunks_exact(cols).zip(sums) {
        *sum = row.iter().map(|&x| f64::from(x)).sum::<f64>() as f32;
    }
}

#[gpubench(problem = row_sums,
    launch = KERNELS::one_thread_a_row<<<Grid::covering(rows, 64)>>>(x, sums, rows, cols))]
fn one_thread_a_row(rows: usize, cols: usize, x: In<f32>, sums: Out<f32>);

#[gpubench(problem = row_sums, launch = KERNELS::one_block_a_row<<<rows, 256>>>(x, sums, cols))]
fn one_block_a_row(rows: usize, cols: usize, x: In<f32>, sums: Out<f32>);
