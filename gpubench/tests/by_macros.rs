//! Benchmarks in the output of a user's macro: their names do not conflict with names in the
//! attributes' output.
#![deny(warnings)]

use gpubench::prelude::*;

cuda_source!(IMAGE = "abi/kernels/image.cu");

fn plane(pixels: usize) -> Tensors {
    Tensors::new()
        .input("image", f32::shape(pixels), Uniform(0.0..1.0))
        .output("bright", f32::shape(pixels))
}

#[problem(axes(pixels = [1024]), tensors = plane, exact)]
fn same(_pixels: usize, image: &[f32], bright: &mut [f32]) {
    bright.copy_from_slice(image);
}

fn launched(launcher: &mut Launcher, _pixels: usize, image: In<f32>, bright: Out<f32>) -> Result<()> {
    launcher.copy(image, bright)
}

macro_rules! benchmarks {
    ($($name:ident = $reference:expr, $inputs:expr;)*) => {$(
        #[gpubench(axes(pixels = [1024]), tensors = $inputs, reference = $reference, exact, bytes = 8 * pixels)]
        fn $name(launcher: &mut Launcher, pixels: usize, image: In<f32>, bright: Out<f32>) -> Result<()> {
            launcher.launch(IMAGE.kernel("brighten"), Grid::covering(pixels, 64), (image, bright, pixels))
        }
    )*};
}

benchmarks! {
    by_name = same, plane;
    by_closure = |_, image: &[f32], bright: &mut [f32]| bright.copy_from_slice(image), plane(1024);
}

macro_rules! others {
    ($($name:ident)*) => {$(
        #[gpubench(problem = same)]
        fn $name(launcher: &mut Launcher, pixels: usize, image: In<f32>, bright: Out<f32>) -> Result<()> {
            launched(launcher, pixels, image, bright)
        }

        mod $name {
            use super::*;

            #[gpubench(axes(pixels = [1024]), tensors = plane, reference = launch(launched), exact, name = "launched")]
            fn benchmark(launcher: &mut Launcher, pixels: usize, image: In<f32>, bright: Out<f32>) -> Result<()> {
                launched(launcher, pixels, image, bright)
            }
        }
    )*};
}

others!(one other);
