//! Wrong references that launch kernels.
#![allow(unused)]
use gpubench::prelude::*;

fn plane(width: usize) -> Tensors {
    Tensors::new().output("zeros", f32::shape(width))
}

fn plainly(cx: &mut Launcher, _width: usize, zeros: Out<f32>) -> Result<()> {
    cx.memset(zeros, 0)
}

fn with_another_axis(cx: &mut Launcher, _width: f32, zeros: Out<f32>) -> Result<()> {
    cx.memset(zeros, 0)
}

#[problem(axes(width = [1]), tensors = plane, exact)]
fn clear(cx: &mut Launcher, _width: usize, zeros: Out<f32>) -> Result<()> {
    cx.memset(zeros, 0)
}

#[gpubench(axes(width = [1]), tensors = plane, reference = launch(plainly, plainly), exact)]
fn two_functions(cx: &mut Launcher, width: usize, zeros: Out<f32>) -> Result<()> {
    Ok(())
}

#[gpubench(axes(width = [1]), tensors = plane, reference = launch(with_another_axis), exact)]
fn axis_of_another_type(cx: &mut Launcher, width: usize, zeros: Out<f32>) -> Result<()> {
    Ok(())
}

#[gpubench(axes(width = [1]), tensors = plane, reference = launch(plainly), exact, cuda(tolerance = 1))]
fn unknown_on_a_device(cx: &mut Launcher, width: usize, zeros: Out<f32>) -> Result<()> {
    Ok(())
}

#[gpubench(problem = clear, cuda(reference = launch(plainly)))]
fn reference_of_the_problem(cx: &mut Launcher, zeros: Out<f32>) -> Result<()> {
    Ok(())
}

#[problem(axes(width = [1]), tensors = plane, exact)]
fn nothing_returned(cx: &mut Launcher, _width: usize, zeros: Out<f32>) {
    cx.memset(zeros, 0).unwrap();
}

#[problem(axes(width = [1]), tensors = plane, exact)]
fn scratch_tensor(cx: &mut Launcher, _width: usize, zeros: Out<f32>, partial: Scratch<f32>) -> Result<()> {
    cx.memset(zeros, 0)
}

fn main() {}
