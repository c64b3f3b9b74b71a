//! A type that is not a problem.
#![allow(unused)]
use gpubench::prelude::*;

#[gpubench(problem = String)]
fn clear(cx: &mut Launcher, zeros: Out<f32>) -> Result<()> {
    cx.memset(zeros, 0)
}

fn main() {}
