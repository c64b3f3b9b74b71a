//! The macros' output compiles in a crate without the standard library.
#![no_std]
#![forbid(unsafe_code)]
#![deny(warnings)]

extern crate gpubench as gb;

use gb::prelude::{Grid, In, KernelArg, Launcher, Out, Result, Tensors, Uniform, cuda_source, gpubench, problem};
use gb::{Element, cuda_image};

cuda_source!(IMAGE = "abi/kernels/image.cu", crate = gb);
cuda_image!(TEXT = ".version 8.0\n", crate = gb);

#[derive(KernelArg)]
#[kernel_arg(crate = gb)]
#[repr(C)]
struct Gain {
    value: f32,
}

fn plane(pixels: usize) -> Tensors {
    Tensors::new()
        .input("image", f32::shape(pixels), Uniform(0.0..1.0))
        .output("bright", f32::shape(pixels))
}

#[problem(axes(pixels = [1024]), tensors = plane, exact, bytes = 8 * pixels, crate = gb)]
fn brighten(_pixels: usize, image: &[f32], bright: &mut [f32]) {
    bright.copy_from_slice(image);
}

#[gpubench(problem = brighten, cpu(axes(threads = [64])), axes(threads = [128]), crate = gb)]
fn of_a_problem(
    launcher: &mut Launcher,
    pixels: usize,
    threads: usize,
    image: In<f32>,
    bright: Out<f32>,
) -> Result<()> {
    let _ = &TEXT;
    let gain = Gain { value: 1.0 };
    launcher.launch(
        IMAGE.kernel("brighten"),
        Grid::covering(pixels, threads),
        (image, bright, gain, pixels),
    )
}

#[gpubench(axes(pixels = [1024]), tensors = plane, reference = brighten, tolerance(rtol = 1e-5), requires(cpu), crate = gb)]
fn of_its_own(launcher: &mut Launcher, pixels: usize, image: In<f32>, bright: Out<f32>) -> Result<()> {
    let gain = Gain { value: 1.0 };
    launcher.launch(
        IMAGE.kernel("brighten"),
        Grid::covering(pixels, 64),
        (image, bright, gain, pixels),
    )
}
