//! Tolerances that no output has a use for.
#![allow(unused)]
use gpubench::prelude::*;

#[problem(axes(n = [1]), tolerance(rtol = 1e-3))]
fn of_integers(n: usize, #[fill(Bits, n)] x: &[u32], #[shape(n)] y: &mut [u32], #[shape(n)] z: &mut [i64]) {}

#[problem(axes(n = [1]), reduction = n)]
fn sums_of_integers(n: usize, #[fill(Bits, n)] x: &[u32], #[shape(n)] sum: &mut [u64]) {}

#[problem(types(T = [i8, u8]), axes(n = [1]), tolerance(atol = 1.0))]
fn of_types_of_integers<T: Element>(n: usize, #[fill(Bits, n)] x: &[T], #[shape(n)] y: &mut [T]) {}

fn add(_: usize, x: &[u32], y: &mut [u32]) {}

#[gpubench(axes(n = [1]), reference = add, tolerance(rtol = 1e-3))]
fn benchmark(launcher: &mut Launcher, n: usize, #[fill(Bits, n)] x: In<u32>, #[shape(n)] y: Out<u32>) -> Result<()> {
    Ok(())
}

// One output of floating-point numbers is enough, and an integer may have a tolerance of its own.
#[problem(axes(n = [1]), tolerance(rtol = 1e-3))]
fn of_one_output(n: usize, #[fill(Bits, n)] x: &[u32], #[shape(n)] y: &mut [u32], #[shape(n)] z: &mut [f32]) {}

#[problem(types(T = [f32, u8]), axes(n = [1]), tolerance(rtol = 1e-3))]
fn of_one_type<T: Element>(n: usize, #[shape(n)] y: &mut [T]) {}

#[problem(axes(n = [1]))]
fn rounded(n: usize, #[fill(Bits, n)] x: &[u32], #[tolerance(atol = 1.0)] #[shape(n)] y: &mut [u8]) {}

fn main() {}
