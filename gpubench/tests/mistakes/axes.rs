//! Axes and parameters that do not match.
#![allow(unused)]
use gpubench::prelude::*;

fn plane(width: usize) -> Tensors {
    Tensors::new().output("zeros", f32::shape(width))
}

fn clear_on_cpu(_: usize, zeros: &mut [f32]) {
    zeros.fill(0.0);
}

#[gpubench(axes(width = [1], heigth = [2]), tensors = plane, reference = clear_on_cpu, exact)]
fn axis_without_a_parameter(launcher: &mut Launcher, width: usize, zeros: Out<f32>) -> Result<()> {
    launcher.memset(zeros, 0)
}

#[gpubench(axes(width = [1]), tensors = plane, reference = clear_on_cpu, exact)]
fn parameter_without_an_axis(launcher: &mut Launcher, width: usize, depth: usize, zeros: Out<f32>) -> Result<()> {
    launcher.memset(zeros, 0)
}

#[gpubench(tensors = plane(1), reference = clear_on_cpu, exact)]
fn no_axes_at_all(launcher: &mut Launcher, width: usize, zeros: Out<f32>) -> Result<()> {
    launcher.memset(zeros, 0)
}

#[gpubench(axes(width = [1], width = [2]), tensors = plane, reference = clear_on_cpu, exact)]
fn axis_given_twice(launcher: &mut Launcher, width: usize, zeros: Out<f32>) -> Result<()> {
    launcher.memset(zeros, 0)
}

#[gpubench(axes(width = []), tensors = plane, reference = clear_on_cpu, exact)]
fn axis_without_values(launcher: &mut Launcher, width: usize, zeros: Out<f32>) -> Result<()> {
    launcher.memset(zeros, 0)
}

#[gpubench(axes(width = 1024), tensors = plane, reference = clear_on_cpu, exact)]
fn axis_with_a_bare_value(launcher: &mut Launcher, width: usize, zeros: Out<f32>) -> Result<()> {
    launcher.memset(zeros, 0)
}

#[gpubench(axes(width = [1]), cpu(axes(height = [1])), tensors = plane, reference = clear_on_cpu, exact)]
fn unknown_axis_for_a_device(launcher: &mut Launcher, width: usize, zeros: Out<f32>) -> Result<()> {
    launcher.memset(zeros, 0)
}

#[gpubench(axes(zeros = [1]), tensors = plane(1), reference = clear_on_cpu, exact)]
fn axis_called_as_a_buffer(launcher: &mut Launcher, zeros: Out<f32>) -> Result<()> {
    launcher.memset(zeros, 0)
}

fn main() {}
