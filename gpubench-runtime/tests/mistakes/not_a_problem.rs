//! A problem must be one.
#![allow(unused)]
use gpubench::prelude::*;

#[gpubench(problem = String)]
fn clear(cx: &mut Launcher, zeros: Out<f32>) -> Result<()> {
    cx.memset(zeros, 0)
}

fn main() {}
