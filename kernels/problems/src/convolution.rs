//! The correlation of an image with a small square filter.

use crate::rounding::U;
use gpubench::prelude::*;

cuda_source!(CONVOLUTION = "convolution.cu");
cuda_source!(CONVOLUTION_REFERENCE = "references/convolution.cu");

/// A sum of `taps` products rounds each of them at most `taps` times, and the reference rounds once
/// more. Taps are at most 1 and pixels below 1. This bound assumes nothing about signs, and is
/// still a tenth of the error that rounding the inputs to TF32 would cause.
fn atol(radius: usize) -> f64 {
    let taps = taps(radius) as f64;
    (taps + 1.0) * U * taps
}

fn taps(radius: usize) -> usize {
    (2 * radius + 1).pow(2)
}

/// The capacity of constant memory in taps: a filter of radius 7.
const MOST_TAPS: usize = 225;

/// Returns the filter. It is known in advance, so it can be in constant memory. Its taps are
/// multiples of 1/128 from -1 to 1, in an order that is neither symmetric nor separable.
fn tap(index: usize) -> f32 {
    ((index * 67 + 29) % 257) as f32 / 128.0 - 1.0
}

#[allow(clippy::too_many_arguments)]
fn in_double(
    launcher: &mut Launcher,
    width: usize,
    height: usize,
    radius: usize,
    image: In<f32>,
    filter: Constant<f32>,
    out: Out<f32>,
) -> Result<()> {
    let (columns, rows, reach) = (i32::try_from(width)?, i32::try_from(height)?, i32::try_from(radius)?);
    launcher.launch(
        CONVOLUTION_REFERENCE.kernel("in_double"),
        Grid::covering((width, height), (16, 16)),
        (image, filter, out, columns, rows, reach),
    )
}

/// Correlates an image with a small square filter.
///
/// `out[i][j]` is the sum of `filter[a + radius][b + radius] * image[i + a][j + b]` over all a and
/// b from -`radius` to `radius`. Pixels outside of the image are zero. Rows follow each other.
///
/// Pixels are from 0 to 1. The filter is the same for all calls. Its taps are from -1 to 1, and it
/// is neither symmetric nor a product of a row and a column. The tolerance is the bound of the
/// error of `f32` for any order of additions; products of TF32 are too rough.
#[problem(
    axes(width = [4096, 4001], height = [2160], radius = [2]),
    cpu(axes(width = [256, 131], height = [100])),
    cuda(reference = launch(in_double)),
    bytes = 8 * width * height + 4 * taps(radius),
    flops = 2 * taps(radius) * width * height,
    hidden(width = draw(1..=150), height = draw(1..=100), radius = [0, 1, 3], count = 2),
    limits(time = "10s", source = "64 KiB"),
)]
pub fn convolution(
    width: usize,
    height: usize,
    radius: usize,
    #[fill(Uniform(0.0..1.0), [height, width])] image: &[f32],
    #[constant(ByKernel(CONVOLUTION_REFERENCE.kernel("write_taps")), [2 * radius + 1, 2 * radius + 1])]
    filter: &[f32],
    #[shape([height, width])]
    #[tolerance(atol = atol(radius))]
    out: &mut [f32],
) {
    let side = 2 * radius + 1;
    for row in 0..height {
        for column in 0..width {
            let mut sum = 0.0f64;
            // Image coordinates are shifted by the radius, so none is negative.
            for y in (0..side).filter(|y| (radius..height + radius).contains(&(row + y))) {
                for x in (0..side).filter(|x| (radius..width + radius).contains(&(column + x))) {
                    let pixel = image[(row + y - radius) * width + column + x - radius];
                    sum += f64::from(filter[y * side + x]) * f64::from(pixel);
                }
            }
            out[row * width + column] = sum as f32;
        }
    }
}

#[allow(clippy::too_many_arguments)]
#[gpubench(problem = convolution)]
fn tiled(
    launcher: &mut Launcher,
    width: usize,
    height: usize,
    radius: usize,
    image: In<f32>,
    filter: Constant<f32>,
    out: Out<f32>,
) -> Result<()> {
    let kernel = CONVOLUTION.kernel(format!("tiled<{radius}>"));
    let (columns, rows) = (i32::try_from(width)?, i32::try_from(height)?);
    launcher.launch(
        kernel,
        Grid::covering((width, height), (32, 8)),
        (image, filter, out, columns, rows),
    )
}

#[allow(clippy::too_many_arguments)]
#[gpubench(problem = convolution)]
fn constant_memory(
    launcher: &mut Launcher,
    width: usize,
    height: usize,
    radius: usize,
    image: In<f32>,
    _filter: Constant<f32>,
    out: Out<f32>,
) -> Result<()> {
    let mut filter = [0.0; MOST_TAPS];
    let beyond = || gpubench::Error::new(format!("the axis `radius` is at most 7, not {radius}"));
    let used = filter.get_mut(..taps(radius)).ok_or_else(beyond)?;
    for (index, value) in used.iter_mut().enumerate() {
        *value = tap(index);
    }
    launcher.set_constant(&CONVOLUTION, "constant_taps", &filter)?;
    let kernel = CONVOLUTION.kernel(format!("constant_memory<{radius}>"));
    let (columns, rows) = (i32::try_from(width)?, i32::try_from(height)?);
    let grid = Grid::covering((width, height), (32, 8));
    launcher.launch(kernel, grid, (image, out, columns, rows))
}

#[cfg(test)]
mod tests {
    use super::{MOST_TAPS, atol, convolution, tap};
    use crate::shortcuts::{Tolerance, no_constant_passes};
    use gpubench::Rng;

    #[test]
    fn the_reference_adds_weighted_neighbours_and_zeros_outside() {
        let image = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let filter = [0.0, 0.0, 0.0, 1.0, 10.0, 100.0, 0.0, 1000.0, 0.0];
        let mut out = [0.0; 6];
        convolution(3, 2, 1, &image, &filter, &mut out);
        assert_eq!(out, [4210.0, 5321.0, 6032.0, 540.0, 654.0, 65.0]);
    }

    #[test]
    fn taps_are_between_minus_one_and_one_and_differ() {
        let mut taps: Vec<f32> = (0..MOST_TAPS).map(tap).collect();
        assert!(taps.iter().all(|tap| (-1.0..=1.0).contains(tap)));
        taps.sort_by(f32::total_cmp);
        taps.dedup();
        assert_eq!(taps.len(), MOST_TAPS);
    }

    #[test]
    fn no_constant_answer_passes() {
        let mut rng = Rng::new(1);
        let image: Vec<f32> = (0..40 * 30).map(|_| rng.f32()).collect();
        let filter: Vec<f32> = (0..25).map(tap).collect();
        let mut out = vec![0.0; image.len()];
        convolution(40, 30, 2, &image, &filter, &mut out);
        no_constant_passes(
            &out,
            Tolerance {
                rtol: 0.0,
                atol: atol(2),
            },
        );
    }
}
