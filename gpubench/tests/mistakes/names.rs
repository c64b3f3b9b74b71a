//! Names, strings and results in the wrong place.
#![allow(unused)]
use gpubench::prelude::*;

fn plane(n: usize, k: usize) -> Tensors {
    Tensors::new().output("zeros", f32::shape(n * k))
}

fn clear_on_cpu(_n: usize, _k: usize, zeros: &mut [f32]) {
    zeros.fill(0.0);
}

const K: usize = 3;

#[gpubench(axes(n = [1], k = [1]), tensors = plane, reference = clear_on_cpu, exact, bytes = 8 * (n + m) + K)]
fn bytes_of_an_unknown_axis(launcher: &mut Launcher, n: usize, k: usize, zeros: Out<f32>) -> Result<()> {
    launcher.memset(zeros, 0)
}

#[gpubench(axes(n = [1], k = [1]), tensors = plane, reference = clear_on_cpu, exact, bytes = 4.0 * n * k)]
fn bytes_of_a_float_and_integers(launcher: &mut Launcher, n: i32, k: i32, zeros: Out<f32>) -> Result<()> {
    launcher.memset(zeros, 0)
}

#[gpubench(axes(n = [1], k = [1]), tensors = plane, reference = clear_on_cpu, exact, flops = k + (n * 2.5))]
fn flops_of_integers_and_a_float(launcher: &mut Launcher, n: usize, k: usize, zeros: Out<f32>) -> Result<()> {
    launcher.memset(zeros, 0)
}

#[gpubench(axes(n = [1], k = [1]), tensors = plane, reference = clear_on_cpu, exact, bytes = 4.0 * n as f64 * (k as f64))]
fn bytes_of_floats(launcher: &mut Launcher, n: usize, k: usize, zeros: Out<f32>) -> Result<()> {
    launcher.memset(zeros, 0)
}

#[gpubench(axes(n = [1], k = [1]), tensors = plane, reference = clear_on_cpu, exact)]
fn kernel_as_a_text(launcher: &mut Launcher, n: usize, k: usize, zeros: Out<f32>) -> Result<()> {
    launcher.launch("brighten", Grid::covering(n, 256), (zeros, n))
}

fn scratch_that_may_have_failed(launcher: &mut Launcher, kernel: Kernel, n: usize, zeros: Out<f32>) -> Result<()> {
    let partial = launcher.scratch::<u32>(n);
    launcher.launch(kernel, Grid::covering(n, 256), (zeros, partial, n))
}

#[gpubench::bench]
fn of_another_harness(launcher: &mut Launcher) -> Result<()> {
    Ok(())
}

fn main() {}
