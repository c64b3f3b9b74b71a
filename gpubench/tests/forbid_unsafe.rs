//! A kernel crate can forbid unsafe code and enable all warnings.
#![forbid(unsafe_code)]
#![warn(missing_docs, unreachable_pub, unused_qualifications, clippy::pedantic)]
#![deny(warnings)]

use gpubench::prelude::*;

/// A kernel parameter.
#[derive(KernelArg, Clone, Copy)]
#[repr(C)]
pub struct Gain {
    value: f32,
    steps: u8,
}

cuda_source!(IMAGE = "abi/kernels/image.cu");

fn plane(pixels: usize) -> Tensors {
    Tensors::new()
        .input("image", f32::shape(pixels), Uniform(0.0..1.0))
        .output("bright", f32::shape(pixels))
}

/// A problem.
#[problem(axes(pixels = [1 << 20]), tensors = plane, tolerance(rtol = 1e-6), bytes = 8 * pixels)]
pub fn brighten(_pixels: usize, image: &[f32], bright: &mut [f32]) {
    for (image, bright) in image.iter().zip(bright) {
        *bright = 2.0 * image;
    }
}

#[gpubench(problem = brighten)]
fn simple(launcher: &mut Launcher, pixels: usize, image: In<f32>, bright: Out<f32>) -> Result<()> {
    let gain = Gain { value: 2.0, steps: 1 };
    launcher.launch(
        IMAGE.kernel("brighten"),
        Grid::covering(pixels, 256),
        (image, bright, gain, pixels),
    )
}

#[test]
fn a_problem_is_still_a_function() {
    let mut bright = [0.0; 2];
    brighten(2, &[1.0, 2.0], &mut bright);
    assert_eq!(bright.map(f32::to_bits), [2.0f32, 4.0].map(f32::to_bits));
}
