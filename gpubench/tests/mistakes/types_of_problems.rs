//! Types that the problem does not have.
#![allow(unused)]
use gpubench::prelude::*;

#[problem(axes(n = [1]))]
fn of_floats(n: usize, #[fill(Normal::STANDARD, n)] x: &[f32], #[shape(n)] y: &mut [f32]) {}

#[gpubench(problem = of_floats, types(T = [f32]))]
fn of_another_problem<T: Element>(launcher: &mut Launcher, n: usize, x: In<T>, y: Out<T>) -> Result<()> {
    launcher.copy(x, y)
}

fn main() {}
