//! Counters that are nameless, repeated, malformed or of something else than the axes.
#![allow(unused)]
use gpubench::prelude::*;

fn plane(n: usize) -> Tensors {
    Tensors::new().output("zeros", f32::shape(n))
}

fn clear_on_cpu(_n: usize, zeros: &mut [f32]) {
    zeros.fill(0.0);
}

#[gpubench(axes(n = [1]), tensors = plane, reference = clear_on_cpu, exact, counters = n)]
fn without_parentheses(launcher: &mut Launcher, n: usize, zeros: Out<f32>) -> Result<()> {
    launcher.memset(zeros, 0)
}

#[gpubench(axes(n = [1]), tensors = plane, reference = clear_on_cpu, exact, counters())]
fn none(launcher: &mut Launcher, n: usize, zeros: Out<f32>) -> Result<()> {
    launcher.memset(zeros, 0)
}

#[gpubench(axes(n = [1]), tensors = plane, reference = clear_on_cpu, exact, counters(8 * n))]
fn without_a_name(launcher: &mut Launcher, n: usize, zeros: Out<f32>) -> Result<()> {
    launcher.memset(zeros, 0)
}

#[gpubench(axes(n = [1]), tensors = plane, reference = clear_on_cpu, exact, counters(tokens))]
fn without_an_amount(launcher: &mut Launcher, n: usize, zeros: Out<f32>) -> Result<()> {
    launcher.memset(zeros, 0)
}

#[gpubench(axes(n = [1]), tensors = plane, reference = clear_on_cpu, exact, counters(tokens = n, r#tokens = 2 * n))]
fn repeated(launcher: &mut Launcher, n: usize, zeros: Out<f32>) -> Result<()> {
    launcher.memset(zeros, 0)
}

#[gpubench(axes(n = [1]), tensors = plane, reference = clear_on_cpu, exact, counters(bytes = n))]
fn named_bytes(launcher: &mut Launcher, n: usize, zeros: Out<f32>) -> Result<()> {
    launcher.memset(zeros, 0)
}

#[problem(axes(n = [1]), tensors = plane, exact, counters(flops = n))]
fn named_flops(_n: usize, zeros: &mut [f32]) {
    zeros.fill(0.0);
}

#[problem(axes(n = [1]), tensors = plane, exact, counters(tokens_of_all_the_sequences_in_a_batch = n))]
fn long_name(_n: usize, zeros: &mut [f32]) {
    zeros.fill(0.0);
}

#[gpubench(axes(n = [1]), tensors = plane, reference = clear_on_cpu, exact, counters(tokens = 2 * m))]
fn of_an_unknown_axis(launcher: &mut Launcher, n: usize, zeros: Out<f32>) -> Result<()> {
    launcher.memset(zeros, 0)
}

#[gpubench(axes(n = [1]), tensors = plane, reference = clear_on_cpu, exact, counters(tokens = 2.0 * n))]
fn of_a_float_and_an_integer(launcher: &mut Launcher, n: usize, zeros: Out<f32>) -> Result<()> {
    launcher.memset(zeros, 0)
}

#[gpubench(axes(n = [1]), tensors = plane, reference = clear_on_cpu, exact, counters(tokens = "many"))]
fn of_a_text(launcher: &mut Launcher, n: usize, zeros: Out<f32>) -> Result<()> {
    launcher.memset(zeros, 0)
}

#[problem(axes(n = [1]), tensors = plane, exact)]
fn clear(_n: usize, zeros: &mut [f32]) {
    zeros.fill(0.0);
}

#[gpubench(problem = clear, counters(tokens = n))]
fn of_the_problem(launcher: &mut Launcher, n: usize, zeros: Out<f32>) -> Result<()> {
    launcher.memset(zeros, 0)
}

fn main() {}
