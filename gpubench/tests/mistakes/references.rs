//! Wrong references that launch kernels.
#![allow(unused)]
use gpubench::prelude::*;

fn plane(width: usize) -> Tensors {
    Tensors::new().output("zeros", f32::shape(width))
}

fn plainly(launcher: &mut Launcher, _width: usize, zeros: Out<f32>) -> Result<()> {
    launcher.memset(zeros, 0)
}

fn with_another_axis(launcher: &mut Launcher, _width: f32, zeros: Out<f32>) -> Result<()> {
    launcher.memset(zeros, 0)
}

#[problem(axes(width = [1]), tensors = plane, exact)]
fn clear(launcher: &mut Launcher, _width: usize, zeros: Out<f32>) -> Result<()> {
    launcher.memset(zeros, 0)
}

#[gpubench(axes(width = [1]), tensors = plane, reference = launch(plainly, plainly), exact)]
fn two_functions(launcher: &mut Launcher, width: usize, zeros: Out<f32>) -> Result<()> {
    Ok(())
}

#[gpubench(axes(width = [1]), tensors = plane, reference = launch(with_another_axis), exact)]
fn axis_of_another_type(launcher: &mut Launcher, width: usize, zeros: Out<f32>) -> Result<()> {
    Ok(())
}

#[gpubench(axes(width = [1]), tensors = plane, reference = launch(plainly), exact, cuda(tolerance = 1))]
fn unknown_on_a_device(launcher: &mut Launcher, width: usize, zeros: Out<f32>) -> Result<()> {
    Ok(())
}

#[gpubench(problem = clear, cuda(reference = launch(plainly)))]
fn reference_of_the_problem(launcher: &mut Launcher, zeros: Out<f32>) -> Result<()> {
    Ok(())
}

#[problem(axes(width = [1]), tensors = plane, exact)]
fn nothing_returned(launcher: &mut Launcher, _width: usize, zeros: Out<f32>) {
    launcher.memset(zeros, 0).unwrap();
}

#[problem(axes(width = [1]), tensors = plane, exact)]
fn scratch_tensor(launcher: &mut Launcher, _width: usize, zeros: Out<f32>, partial: Scratch<f32>) -> Result<()> {
    launcher.memset(zeros, 0)
}

#[gpubench(axes(width = [1]), tensors = plane, reference = provider(), exact)]
fn no_command(launcher: &mut Launcher, width: usize, zeros: Out<f32>) -> Result<()> {
    Ok(())
}

#[gpubench(axes(width = [1]), tensors = plane, reference = provider("python3", plainly), exact)]
fn argument_that_is_no_string(launcher: &mut Launcher, width: usize, zeros: Out<f32>) -> Result<()> {
    Ok(())
}

#[problem(axes(width = [1]), tensors = plane, reference = provider("python3"), exact)]
fn both_a_body_and_a_command(width: usize, zeros: &mut [f32]) {}

#[problem(axes(width = [1]), tensors = plane, exact)]
fn neither_a_body_nor_a_command(width: usize, zeros: &mut [f32]);

fn main() {}
