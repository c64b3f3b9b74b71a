//! A struct that is no element has one error, however often tensors hold it.
#![allow(unused)]
use gpubench::prelude::*;

#[derive(Clone, Copy, Element)]
struct Hit {
    score: f32,
    index: u32,
}

fn best_on_cpu(_n: usize, x: &[f32], hits: &mut [Hit]) {
    hits[0] = Hit { score: x[0], index: 0 };
}

#[gpubench(axes(n = [1000]), reference = best_on_cpu)]
fn best(
    launcher: &mut Launcher,
    n: usize,
    #[fill(Uniform(0.0..1.0), n)] x: In<f32>,
    #[shape(1)] hits: Out<Hit>,
) -> Result<()> {
    launcher.memset(hits, 0)
}

fn main() {}
