//! Types that cannot be elements.
#![allow(unused)]
use gpubench::prelude::*;

#[derive(Clone, Copy, Element)]
struct WithoutLayout {
    value: f32,
}

#[derive(Clone, Copy, Element)]
#[repr(C, packed)]
struct Packed {
    value: f32,
}

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Generic<T> {
    value: T,
}

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Tuple(f32, u32);

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Unit;

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Empty {}

#[derive(Clone, Copy, Element)]
#[repr(u8)]
enum Choice {
    One,
}

#[derive(Clone, Copy, Element)]
#[repr(C)]
union Either {
    one: f32,
}

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct ComparedTwice {
    #[exact]
    #[tolerance(rtol = 1e-5)]
    value: f32,
}

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct ComparedByNothing {
    #[tolerance(1e-5)]
    value: f32,
}

#[derive(Clone, Copy, Element)]
#[repr(C)]
#[tolerance(rtol = 1e-5)]
struct ComparedAsAWhole {
    value: f32,
}

fn main() {}
