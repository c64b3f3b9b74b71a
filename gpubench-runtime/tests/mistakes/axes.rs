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
fn axis_without_a_parameter(cx: &mut Launcher, width: usize, zeros: Out<f32>) -> Result<()> {
    cx.memset(zeros, 0)
}

#[gpubench(axes(width = [1]), tensors = plane, reference = clear_on_cpu, exact)]
fn parameter_without_an_axis(cx: &mut Launcher, width: usize, depth: usize, zeros: Out<f32>) -> Result<()> {
    cx.memset(zeros, 0)
}

#[gpubench(tensors = plane(1), reference = clear_on_cpu, exact)]
fn no_axes_at_all(cx: &mut Launcher, width: usize, zeros: Out<f32>) -> Result<()> {
    cx.memset(zeros, 0)
}

#[gpubench(axes(width = [1], width = [2]), tensors = plane, reference = clear_on_cpu, exact)]
fn axis_given_twice(cx: &mut Launcher, width: usize, zeros: Out<f32>) -> Result<()> {
    cx.memset(zeros, 0)
}

#[gpubench(axes(width = []), tensors = plane, reference = clear_on_cpu, exact)]
fn axis_without_values(cx: &mut Launcher, width: usize, zeros: Out<f32>) -> Result<()> {
    cx.memset(zeros, 0)
}

#[gpubench(axes(width = 1024), tensors = plane, reference = clear_on_cpu, exact)]
fn axis_with_a_bare_value(cx: &mut Launcher, width: usize, zeros: Out<f32>) -> Result<()> {
    cx.memset(zeros, 0)
}

#[gpubench(axes(width = [1]), cpu(axes(height = [1])), tensors = plane, reference = clear_on_cpu, exact)]
fn unknown_axis_for_a_device(cx: &mut Launcher, width: usize, zeros: Out<f32>) -> Result<()> {
    cx.memset(zeros, 0)
}

#[gpubench(axes(zeros = [1]), tensors = plane(1), reference = clear_on_cpu, exact)]
fn axis_called_as_a_buffer(cx: &mut Launcher, zeros: Out<f32>) -> Result<()> {
    cx.memset(zeros, 0)
}

fn main() {}
