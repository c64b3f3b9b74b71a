//! Two functions with the same name.
#![allow(unused)]
use gpubench::prelude::*;

fn plane(width: usize) -> Tensors {
    Tensors::new().output("zeros", f32::shape(width))
}

fn clear_on_cpu(_width: usize, zeros: &mut [f32]) {
    zeros.fill(0.0);
}

#[gpubench(axes(width = [1]), tensors = plane, reference = clear_on_cpu, exact)]
fn clear(launcher: &mut Launcher, width: usize, zeros: Out<f32>) -> Result<()> {
    launcher.memset(zeros, 0)
}

#[gpubench(tensors = plane(8), reference = |zeros| clear_on_cpu(8, zeros), exact)]
fn clear(launcher: &mut Launcher, zeros: Out<f32>) -> Result<()> {
    launcher.memset(zeros, 0)
}

fn main() {}
