//! The kernel, in CubeCL's Rust.

use cubecl::prelude::*;

/// Units of a cube, which are the threads of a block.
pub const UNITS: u32 = 256;

/// `y = x + 1`
#[cube(launch_unchecked)]
pub fn add1(x: &Array<f32>, y: &mut Array<f32>) {
    if ABSOLUTE_POS < y.len() {
        y[ABSOLUTE_POS] = x[ABSOLUTE_POS] + 1.0;
    }
}
