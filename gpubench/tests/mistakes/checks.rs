//! Checks that do not fit their benchmark or problem.

#![allow(unused_variables)]

use gpubench::prelude::*;

macro_rules! benchmark {
    ($name:ident: $($option:tt)*) => {
        #[gpubench(axes(n = [1]), $($option)*)]
        fn $name(
            launcher: &mut Launcher,
            n: usize,
            #[fill(Uniform(0.0..1.0), n)] x: In<f32>,
            #[shape(n)] y: Out<f32>,
        ) -> Result<()> {
            launcher.copy(x, y)
        }
    };
}

fn takes_slices(n: usize, x: &[f32], y: &mut [f32]) {}

fn right(n: usize, x: &[f32], y: Answer<f32>) {}

benchmark!(check_like_a_reference: check = takes_slices);
benchmark!(tolerance_of_nothing: check = right, tolerance(rtol = 1e-5));
benchmark!(exactly_nothing: check = right, exact);
benchmark!(check_without_a_value: check);

#[problem(axes(n = [1]))]
fn half_a_check(
    n: usize,
    #[fill(Uniform(0.0..1.0), n)] x: &[f32],
    #[shape(n)] y: Answer<f32>,
    #[shape(n)] z: &mut [f32],
) {
}

#[problem(axes(n = [1]), check = right)]
fn two_checks(n: usize, #[fill(Uniform(0.0..1.0), n)] x: &[f32], #[shape(n)] y: Answer<f32>) {}

#[problem(axes(n = [1]), reduction = n)]
fn reduction_of_a_check(n: usize, #[fill(Uniform(0.0..1.0), n)] x: &[f32], #[shape(n)] y: Answer<f32>) {}

#[problem(axes(n = [1]))]
fn checked(n: usize, #[fill(Uniform(0.0..1.0), n)] x: &[f32], #[shape(n)] y: Answer<f32>) {}

#[gpubench(problem = checked, check = right)]
fn check_of_its_own(launcher: &mut Launcher, x: In<f32>, y: Out<f32>) -> Result<()> {
    launcher.copy(x, y)
}

fn main() {}
