//! Values, tensors, references and arguments of the wrong type.
#![allow(unused)]
use gpubench::prelude::*;

fn plane(width: usize) -> Tensors {
    Tensors::new().input("x", f32::shape(width), Uniform(0.0..1.0)).output("y", f32::shape(width))
}

fn copy_on_cpu(_width: usize, x: &[f32], y: &mut [f32]) {
    y.copy_from_slice(x);
}

fn copy_doubles_on_cpu(_width: usize, x: &[f64], y: &mut [f64]) {
    y.copy_from_slice(x);
}

fn no_tensors(_width: usize) -> usize {
    0
}

#[gpubench(axes(width = [1024, 0.5]), tensors = plane, reference = copy_on_cpu, exact)]
fn axis_value_of_another_type(launcher: &mut Launcher, width: usize, x: In<f32>, y: Out<f32>) -> Result<()> {
    launcher.copy(x, y)
}

#[gpubench(axes(width = [1024]), tensors = plane, reference = copy_on_cpu, exact)]
fn axis_of_an_impossible_type(launcher: &mut Launcher, width: Vec<u8>, x: In<f32>, y: Out<f32>) -> Result<()> {
    launcher.copy(x, y)
}

#[gpubench(axes(width = [1024]), tensors = no_tensors, reference = copy_on_cpu, exact)]
fn inputs_that_are_none(launcher: &mut Launcher, width: usize, x: In<f32>, y: Out<f32>) -> Result<()> {
    launcher.copy(x, y)
}

#[gpubench(axes(width = [1024]), tensors = plane, reference = copy_doubles_on_cpu, exact)]
fn reference_of_other_elements(launcher: &mut Launcher, width: usize, x: In<f32>, y: Out<f32>) -> Result<()> {
    launcher.copy(x, y)
}

#[gpubench(axes(width = [1024]), tensors = plane, reference = copy_on_cpu, exact)]
fn element_that_no_tensor_holds(launcher: &mut Launcher, width: usize, x: In<char>, y: Out<f32>) -> Result<()> {
    launcher.memset(y, 0)
}

#[gpubench(axes(width = [1024]), tensors = plane, reference = copy_on_cpu, exact, bytes = "many")]
fn bytes_that_are_no_number(launcher: &mut Launcher, width: usize, x: In<f32>, y: Out<f32>) -> Result<()> {
    launcher.copy(x, y)
}

#[gpubench(axes(width = [1024]), tensors = plane, reference = copy_on_cpu, exact)]
fn something_else_returned(launcher: &mut Launcher, width: usize, x: In<f32>, y: Out<f32>) -> Option<()> {
    launcher.copy(x, y).ok()
}

fn writes_an_input(launcher: &mut Launcher, x: In<f32>) -> Result<()> {
    launcher.memset(x, 0)
}

fn passes_a_text(launcher: &mut Launcher, kernel: Kernel, x: In<f32>) -> Result<()> {
    launcher.launch(kernel, Grid::new(1, 1), (x, "text"))
}

fn passes_one_argument_without_a_tuple(launcher: &mut Launcher, kernel: Kernel, x: In<f32>) -> Result<()> {
    launcher.launch(kernel, Grid::new(1, 1), x)
}

fn fills_with_a_number() -> Tensors {
    Tensors::new().input("x", f32::shape(8), 0.0)
}

fn main() {}
