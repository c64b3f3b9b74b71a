//! `launch = ..`: launches that cannot be read, and functions that do not fit one.
#![allow(unused)]
use gpubench::prelude::*;

cuda_source!(IMAGE = "../abi/kernels/image.cu");

#[problem(axes(n = [1]))]
fn copy(n: usize, #[fill(Normal::STANDARD, n)] x: &[f32], #[shape(n)] y: &mut [f32]) {}

#[gpubench(problem = copy)]
fn no_body_and_no_launch(n: usize, x: In<f32>, y: Out<f32>);

#[gpubench(problem = copy, launch = IMAGE.kernel("copy")<<<n, 1>>>(x, y))]
fn body_and_launch(launcher: &mut Launcher, n: usize, x: In<f32>, y: Out<f32>) -> Result<()> {
    Ok(())
}

#[gpubench(problem = copy, launch = IMAGE.kernel("copy")(x, y))]
fn no_grid(n: usize, x: In<f32>, y: Out<f32>);

#[gpubench(problem = copy, launch = IMAGE.kernel("copy")<<<n, 1>>>)]
fn no_arguments(n: usize, x: In<f32>, y: Out<f32>);

#[gpubench(problem = copy, launch = IMAGE.kernel("copy")<<<1>>>(x, y))]
fn no_threads(n: usize, x: In<f32>, y: Out<f32>);

#[gpubench(problem = copy, launch = IMAGE.kernel("copy")<<<n, 1, 2, 3>>>(x, y))]
fn too_many_parts(n: usize, x: In<f32>, y: Out<f32>);

#[gpubench(problem = copy, launch = IMAGE.kernel("copy")<<<n, 1>>(x, y))]
fn not_closed(n: usize, x: In<f32>, y: Out<f32>);

#[gpubench(problem = copy, launch(IMAGE.kernel("copy")))]
fn parentheses(n: usize, x: In<f32>, y: Out<f32>);

#[gpubench(problem = copy, launch = IMAGE.kernel("copy")<<<n, 1>>>(x, y))]
fn with_launcher(launcher: &mut Launcher, n: usize, x: In<f32>, y: Out<f32>);

#[gpubench(problem = copy, launch = IMAGE.kernel("copy")<<<n, 1>>>(x, y))]
fn with_result(n: usize, x: In<f32>, y: Out<f32>) -> Result<()>;

#[gpubench(problem = copy, launch = IMAGE.kernel("copy")<<<n, 1>>>(x, z))]
fn unknown_argument(n: usize, x: In<f32>, y: Out<f32>);

#[gpubench(hosted, problem = copy, launch = IMAGE.kernel("copy")<<<n, 1>>>(x, y))]
fn hosted(n: usize, x: In<f32>, y: Out<f32>);

#[problem(axes(n = [1]), launch = IMAGE.kernel("copy")<<<n, 1>>>(x, y))]
fn problem_with_launch(n: usize, #[fill(Normal::STANDARD, n)] x: &[f32], #[shape(n)] y: &mut [f32]) {}

#[problem(axes(n = [1]))]
fn problem_without_body(n: usize, #[fill(Normal::STANDARD, n)] x: &[f32], #[shape(n)] y: &mut [f32]);

#[gpubench(problem = copy, launch = IMAGE.grayscale<<<n, 1>>>(x, y, n))]
fn by_a_dot(n: usize, x: In<f32>, y: Out<f32>);

#[gpubench(problem = copy, launch = IMAGE::grayscale<<<n, 1>>>(y, x, n))]
fn swapped(n: usize, x: In<f32>, y: Out<f32>);

// This is right.
#[gpubench(problem = copy, launch = IMAGE::grayscale<<<n, 1>>>(x, y, n))]
fn by_function(n: usize, x: In<f32>, y: Out<f32>);

fn main() {}
