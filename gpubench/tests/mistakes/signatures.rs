//! Functions that do not take the arguments that the attribute passes.
#![allow(unused)]
use gpubench::prelude::*;

fn plane(width: usize, height: usize) -> Tensors {
    Tensors::new()
        .input("x", f32::shape([height, width]), Uniform(0.0..1.0))
        .output("y", f32::shape([height, width]))
}

fn line(width: usize) -> Tensors {
    plane(width, 1)
}

fn right(_width: usize, _height: usize, x: &[f32], y: &mut [f32]) {
    y.copy_from_slice(x);
}

fn in_another_order(_width: usize, _height: usize, y: &mut [f32], x: &[f32]) {
    y.copy_from_slice(x);
}

fn without_an_axis(_width: usize, x: &[f32], y: &mut [f32]) {
    y.copy_from_slice(x);
}

fn output_as_an_input(_width: usize, _height: usize, x: &[f32], y: &[f32]) {}

fn launched_without_an_axis(launcher: &mut Launcher, _width: usize, x: In<f32>, y: Out<f32>) -> Result<()> {
    launcher.copy(x, y)
}

#[gpubench(axes(width = [1], height = [1]), tensors = plane, reference = in_another_order, exact)]
fn reference_in_another_order(
    launcher: &mut Launcher,
    width: usize,
    height: usize,
    x: In<f32>,
    y: Out<f32>,
) -> Result<()> {
    launcher.copy(x, y)
}

#[gpubench(axes(width = [1], height = [1]), tensors = plane, reference = without_an_axis, exact)]
fn reference_without_an_axis(launcher: &mut Launcher, width: usize, height: usize, x: In<f32>, y: Out<f32>) -> Result<()> {
    launcher.copy(x, y)
}

#[gpubench(axes(width = [1], height = [1]), tensors = plane, reference = output_as_an_input, exact)]
fn reference_that_writes_nothing(
    launcher: &mut Launcher,
    width: usize,
    height: usize,
    x: In<f32>,
    y: Out<f32>,
) -> Result<()> {
    launcher.copy(x, y)
}

#[gpubench(axes(width = [1], height = [1]), tensors = plane, reference = launch(launched_without_an_axis), exact)]
fn launched_reference(launcher: &mut Launcher, width: usize, height: usize, x: In<f32>, y: Out<f32>) -> Result<()> {
    launcher.copy(x, y)
}

#[gpubench(axes(width = [1], height = [1]), tensors = line, reference = right, exact)]
fn inputs_without_an_axis(launcher: &mut Launcher, width: usize, height: usize, x: In<f32>, y: Out<f32>) -> Result<()> {
    launcher.copy(x, y)
}

fn main() {}
