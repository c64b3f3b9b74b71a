//! Lists of accepted findings that are empty, malformed or repeated, or that belong to the problem.
#![allow(unused)]
use gpubench::prelude::*;

fn plane(n: usize) -> Tensors {
    Tensors::new().output("zeros", f32::shape(n))
}

fn clear_on_cpu(_n: usize, zeros: &mut [f32]) {
    zeros.fill(0.0);
}

#[gpubench(axes(n = [1]), tensors = plane, reference = clear_on_cpu, exact, allow)]
fn without_parentheses(launcher: &mut Launcher, n: usize, zeros: Out<f32>) -> Result<()> {
    launcher.memset(zeros, 0)
}

#[gpubench(axes(n = [1]), tensors = plane, reference = clear_on_cpu, exact, allow())]
fn none(launcher: &mut Launcher, n: usize, zeros: Out<f32>) -> Result<()> {
    launcher.memset(zeros, 0)
}

#[gpubench(axes(n = [1]), tensors = plane, reference = clear_on_cpu, exact, allow("zeros_pass"))]
fn text(launcher: &mut Launcher, n: usize, zeros: Out<f32>) -> Result<()> {
    launcher.memset(zeros, 0)
}

#[gpubench(axes(n = [1]), tensors = plane, reference = clear_on_cpu, exact, allow(zeros_pass, zeros_pass))]
fn twice(launcher: &mut Launcher, n: usize, zeros: Out<f32>) -> Result<()> {
    launcher.memset(zeros, 0)
}

#[problem(axes(n = [1]), tensors = plane, exact)]
fn cleared(_n: usize, zeros: &mut [f32]) {
    zeros.fill(0.0);
}

#[gpubench(problem = cleared, allow(zeros_pass))]
fn of_a_problem(launcher: &mut Launcher, n: usize, zeros: Out<f32>) -> Result<()> {
    launcher.memset(zeros, 0)
}

fn main() {}
