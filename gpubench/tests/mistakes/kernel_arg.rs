//! Structs that cannot be kernel arguments.
#![allow(unused)]
use gpubench::prelude::*;

#[derive(KernelArg)]
struct WithoutLayout {
    gain: f32,
}

fn launched(launcher: &mut Launcher, kernel: Kernel) -> Result<()> {
    launcher.launch(kernel, Grid::new(1, 1), (WithoutLayout { gain: 1.0 },))
}

#[derive(KernelArg)]
#[repr(C, packed)]
struct Packed {
    gain: f32,
}

#[derive(KernelArg)]
#[repr(C)]
struct Empty {}

#[derive(KernelArg)]
#[repr(C)]
enum Choice {
    One,
}

fn main() {}
