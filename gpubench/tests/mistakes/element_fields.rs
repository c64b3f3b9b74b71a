//! Fields that elements cannot have, and what elements cannot be used for.
#![allow(unused)]
use gpubench::prelude::*;

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Flags {
    is_set: bool,
    index: usize,
}

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Matrix {
    rows: [[f32; 2]; 2],
}

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Hit {
    value: f32,
}

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Nested {
    hit: Hit,
}

#[derive(Element)]
#[repr(C)]
struct NotCopy {
    value: f32,
}

fn judged(hits: Answer<Hit>) {
    hits.got();
}

fn doubled<T: Number>(value: T) -> T {
    T::from_f64(2.0 * value.to_f64())
}

fn main() {
    doubled(Hit { value: 1.0 });
}
