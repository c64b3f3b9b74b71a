//! Type parameters and `types(..)`.
#![allow(unused)]
use gpubench::prelude::*;

fn copy<T: Element>(_: usize, x: &[T], y: &mut [T]) {}

#[problem(types(T = [f32, F16]), axes(n = [1]))]
fn same<T: Element>(n: usize, #[fill(Normal::STANDARD, n)] x: &[T], #[shape(n)] y: &mut [T]) {}

#[problem(axes(n = [1]))]
fn of_floats(n: usize, #[fill(Normal::STANDARD, n)] x: &[f32], #[shape(n)] y: &mut [f32]) {}

#[gpubench(problem = same)]
fn not_listed<T: Element>(launcher: &mut Launcher, n: usize, x: In<T>, y: Out<T>) -> Result<()> {
    launcher.copy(x, y)
}

#[gpubench(problem = same, types(T = [f32]))]
fn not_generic(launcher: &mut Launcher, n: usize, x: In<f32>, y: Out<f32>) -> Result<()> {
    launcher.copy(x, y)
}

#[gpubench(problem = same, types(T = []))]
fn empty<T: Element>(launcher: &mut Launcher, n: usize, x: In<T>, y: Out<T>) -> Result<()> {
    launcher.copy(x, y)
}

#[gpubench(problem = same, types())]
fn none<T: Element>(launcher: &mut Launcher, n: usize, x: In<T>, y: Out<T>) -> Result<()> {
    launcher.copy(x, y)
}

#[gpubench(problem = same, types(T = [1, 2]))]
fn numbers<T: Element>(launcher: &mut Launcher, n: usize, x: In<T>, y: Out<T>) -> Result<()> {
    launcher.copy(x, y)
}

#[gpubench(problem = same, types(T = f32))]
fn no_list<T: Element>(launcher: &mut Launcher, n: usize, x: In<T>, y: Out<T>) -> Result<()> {
    launcher.copy(x, y)
}

#[gpubench(problem = same, types(T = [f32], T = [F16]))]
fn twice<T: Element>(launcher: &mut Launcher, n: usize, x: In<T>, y: Out<T>) -> Result<()> {
    launcher.copy(x, y)
}

#[gpubench(problem = same, types(T = [f32]))]
fn a_number<T: Element, const N: usize>(launcher: &mut Launcher, n: usize, x: In<T>, y: Out<T>) -> Result<()> {
    launcher.copy(x, y)
}

fn main() {}
