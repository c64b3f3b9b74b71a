//! Benchmarks that do not match the axes of their problem, as the compiler sees it.
#![allow(unused)]
use gpubench::prelude::*;

fn plane(width: usize) -> Tensors {
    Tensors::new().output("zeros", f32::shape(width))
}

#[problem(axes(width = [1]), tensors = plane, exact)]
fn clear(_width: usize, zeros: &mut [f32]) {
    zeros.fill(0.0);
}

#[gpubench(problem = clear)]
fn unknown_axis(launcher: &mut Launcher, widht: usize, zeros: Out<f32>) -> Result<()> {
    launcher.memset(zeros, 0)
}

#[gpubench(problem = clear, axes(width = [2]))]
fn axis_that_the_problem_has(launcher: &mut Launcher, width: usize, zeros: Out<f32>) -> Result<()> {
    launcher.memset(zeros, 0)
}

fn main() {}
