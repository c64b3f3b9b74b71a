//! Fields that cannot be part of a kernel argument.
#![allow(unused)]
use gpubench::prelude::*;

#[derive(KernelArg)]
#[repr(C)]
struct WithABuffer {
    gain: f32,
    image: In<f32>,
}

#[derive(KernelArg)]
#[repr(C)]
struct WithAText {
    name: &'static str,
}

fn main() {}
