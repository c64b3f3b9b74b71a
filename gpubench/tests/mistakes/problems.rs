//! Benchmarks that do not match their problem, as the macro sees it.
#![allow(unused)]
use gpubench::prelude::*;

fn plane(width: usize) -> Tensors {
    Tensors::new().output("zeros", f32::shape(width))
}

#[problem(axes(width = [1]), tensors = plane, exact)]
fn clear(_width: usize, zeros: &mut [f32]) {
    zeros.fill(0.0);
}

#[gpubench(problem = clear, exact)]
fn option_of_the_problem(launcher: &mut Launcher, zeros: Out<f32>) -> Result<()> {
    launcher.memset(zeros, 0)
}

#[gpubench(problem = clear, cpu(axes(width = [1])))]
fn axis_that_is_not_named(launcher: &mut Launcher, zeros: Out<f32>) -> Result<()> {
    launcher.memset(zeros, 0)
}

#[gpubench(problem = "clear")]
fn problem_as_a_text(launcher: &mut Launcher, zeros: Out<f32>) -> Result<()> {
    launcher.memset(zeros, 0)
}

#[gpubench(problem = clear_everything)]
fn problem_that_does_not_exist(launcher: &mut Launcher, zeros: Out<f32>) -> Result<()> {
    launcher.memset(zeros, 0)
}

#[gpubench(problem = clear, tensors = plane)]
fn inputs_of_the_problem(launcher: &mut Launcher, zeros: Out<f32>) -> Result<()> {
    launcher.memset(zeros, 0)
}

#[gpubench(problem = clear, reference = clear)]
fn reference_of_the_problem(launcher: &mut Launcher, zeros: Out<f32>) -> Result<()> {
    launcher.memset(zeros, 0)
}

#[gpubench(problem = clear, tolerance(rtol = 0.1))]
fn tolerance_of_the_problem(launcher: &mut Launcher, zeros: Out<f32>) -> Result<()> {
    launcher.memset(zeros, 0)
}

#[gpubench(problem = clear, bytes = 4)]
fn bytes_of_the_problem(launcher: &mut Launcher, zeros: Out<f32>) -> Result<()> {
    launcher.memset(zeros, 0)
}

#[gpubench(problem = clear, flops = 1)]
fn flops_of_the_problem(launcher: &mut Launcher, zeros: Out<f32>) -> Result<()> {
    launcher.memset(zeros, 0)
}

#[gpubench(problem = clear, cpu(reference = clear))]
fn cpu_reference_of_the_problem(launcher: &mut Launcher, zeros: Out<f32>) -> Result<()> {
    launcher.memset(zeros, 0)
}

fn main() {}
