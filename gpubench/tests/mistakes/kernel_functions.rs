//! Mistakes in launches by the functions that `cuda_source!` makes of kernels.
use gpubench::prelude::*;

cuda_source!(IMAGE = "../../doc/image.cu");

fn wrong_name(launcher: &mut Launcher, image: In<f32>, bright: Out<f32>, pixels: usize) -> Result<()> {
    IMAGE::brightn(launcher, Grid::covering(pixels, 256), image, bright, 1.5, pixels)
}

fn a_template(launcher: &mut Launcher, pixels: In<u8>, bins: Out<u32>, count: usize) -> Result<()> {
    IMAGE::histogram(launcher, Grid::covering(count, 256), pixels, bins, count)
}

fn too_few(launcher: &mut Launcher, image: In<f32>, bright: Out<f32>, pixels: usize) -> Result<()> {
    IMAGE::brighten(launcher, Grid::covering(pixels, 256), image, bright, 1.5)
}

fn swapped(launcher: &mut Launcher, image: In<f32>, bright: Out<f32>, pixels: usize) -> Result<()> {
    IMAGE::brighten(launcher, Grid::covering(pixels, 256), bright, image, 1.5, pixels)
}

fn another_element(launcher: &mut Launcher, image: In<f64>, bright: Out<f32>, pixels: usize) -> Result<()> {
    IMAGE::brighten(launcher, Grid::covering(pixels, 256), image, bright, 1.5, pixels)
}

fn float_for_integer(launcher: &mut Launcher, image: In<f32>, bright: Out<f32>, pixels: f32) -> Result<()> {
    IMAGE::brighten(launcher, Grid::new(1, 256), image, bright, 1.5, pixels)
}

fn integer_for_float(launcher: &mut Launcher, image: In<f32>, bright: Out<f32>, pixels: usize) -> Result<()> {
    IMAGE::brighten(launcher, Grid::covering(pixels, 256), image, bright, pixels, pixels)
}

fn not_unwrapped(launcher: &mut Launcher, image: In<f32>, pixels: usize) -> Result<()> {
    let bright = launcher.scratch::<f32>(pixels);
    IMAGE::brighten(launcher, Grid::covering(pixels, 256), image, bright, 1.5, pixels)
}

// These are right.
fn of_any_integer(launcher: &mut Launcher, image: In<f32>, bright: Out<f32>) -> Result<()> {
    let scratch = launcher.scratch::<u8>(4)?;
    IMAGE::brighten(launcher, Grid::covering(9, 256), image, scratch, 1.5, 9)?;
    IMAGE::brighten(launcher, Grid::covering(9, 256), bright, Null, 1.5, 9u8)
}

fn main() {}
