//! A type that is not a problem.
#![allow(unused)]
use gpubench::prelude::*;

#[gpubench(problem = String)]
fn clear(launcher: &mut Launcher, zeros: Out<f32>) -> Result<()> {
    launcher.memset(zeros, 0)
}

fn main() {}
