//! Tensors declared in a signature: declarations that are missing, misplaced or contradict the
//! parameter.
#![allow(unused)]
use gpubench::prelude::*;

fn plane(n: usize) -> Tensors {
    Tensors::new().output("y", f32::shape(n))
}

fn add(_: usize, x: &[f32], y: &mut [f32]) {}

#[gpubench(axes(n = [1]), reference = add)]
fn one_is_missing(launcher: &mut Launcher, n: usize, x: In<f32>, #[shape(n)] y: Out<f32>) -> Result<()> {
    Ok(())
}

#[gpubench(axes(n = [1]), reference = add)]
fn all_are_missing(launcher: &mut Launcher, n: usize, x: In<f32>, y: Out<f32>) -> Result<()> {
    Ok(())
}

#[gpubench(axes(n = [1]), tensors = plane, reference = add)]
fn twice(launcher: &mut Launcher, n: usize, #[fill(Normal::STANDARD, n)] x: In<f32>, y: Out<f32>) -> Result<()> {
    Ok(())
}

#[gpubench(axes(n = [1]), reference = add)]
fn input_without_contents(launcher: &mut Launcher, n: usize, #[shape(n)] x: In<f32>, #[shape(n)] y: Out<f32>) -> Result<()> {
    Ok(())
}

#[gpubench(axes(n = [1]), reference = add)]
fn output_with_contents(
    launcher: &mut Launcher,
    n: usize,
    #[fill(Normal::STANDARD, n)] x: In<f32>,
    #[fill(Normal::STANDARD, n)] y: Out<f32>,
) -> Result<()> {
    Ok(())
}

#[gpubench(axes(n = [1]), reference = add)]
fn constant_input(
    launcher: &mut Launcher,
    n: usize,
    #[constant(Normal::STANDARD, n)] x: In<f32>,
    #[shape(n)] y: Out<f32>,
) -> Result<()> {
    Ok(())
}

#[gpubench(axes(n = [1]), reference = add)]
fn no_shape(launcher: &mut Launcher, n: usize, #[fill(Normal::STANDARD)] x: In<f32>, #[shape] y: Out<f32>) -> Result<()> {
    Ok(())
}

#[gpubench(axes(n = [1]), reference = add)]
fn an_axis(launcher: &mut Launcher, #[shape(8)] n: usize, #[fill(Normal::STANDARD, n)] x: In<f32>) -> Result<()> {
    Ok(())
}

#[gpubench(axes(n = [1]), reference = add)]
fn no_axis(
    launcher: &mut Launcher,
    n: usize,
    #[fill(Normal::STANDARD, m)] x: In<f32>,
    #[shape(n)] y: Out<f32>,
) -> Result<()> {
    Ok(())
}

#[gpubench(axes(n = [1]), reference = add)]
fn comparison_of_an_input(
    launcher: &mut Launcher,
    n: usize,
    #[exact]
    #[fill(Normal::STANDARD, n)]
    x: In<f32>,
    #[shape(n)] y: Out<f32>,
) -> Result<()> {
    Ok(())
}

#[gpubench(axes(n = [1]), reference = add)]
fn comparison_without_a_shape(launcher: &mut Launcher, n: usize, x: In<f32>, #[exact] y: Out<f32>) -> Result<()> {
    Ok(())
}

#[gpubench(axes(n = [1]), reference = add, generate = |rng, data| ())]
fn nothing_to_generate(launcher: &mut Launcher, n: usize, x: In<f32>, y: Out<f32>) -> Result<()> {
    Ok(())
}

#[problem(axes(n = [1]))]
fn copy(n: usize, #[fill(Normal::STANDARD, n)] x: &[f32], #[shape(n)] y: &mut [f32]) {}

#[gpubench(problem = copy)]
fn of_a_problem(launcher: &mut Launcher, n: usize, #[fill(Bits, n)] x: In<f32>, y: Out<f32>) -> Result<()> {
    Ok(())
}

#[gpubench(problem = copy, reduction = n)]
fn reduction_of_a_problem(launcher: &mut Launcher, n: usize, x: In<f32>, y: Out<f32>) -> Result<()> {
    Ok(())
}

#[gpubench(axes(n = [1]), reference = add, reduction = n, exact)]
fn two_tolerances(
    launcher: &mut Launcher,
    n: usize,
    #[fill(Normal::STANDARD, n)] x: In<f32>,
    #[shape(n)] y: Out<f32>,
) -> Result<()> {
    Ok(())
}

fn main() {}
