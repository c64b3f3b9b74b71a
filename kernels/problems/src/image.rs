//! Colour to gray: three interleaved channels in, one out.

use crate::rounding::U;
use gpubench::prelude::*;

cuda_source!(IMAGE = "image.cu");
cuda_source!(IMAGE_REFERENCE = "references/image.cu");

/// The weights of red, green and blue in Rec. ITU-R BT.709, the same as in the kernel.
const LUMA: [f32; 3] = [0.2126, 0.7152, 0.0722];

/// A product and two additions, fused or not, round each term at most three times, and the
/// reference rounds once more. All terms are positive, so the error is relative to their sum.
const RTOL: f64 = 4.0 * U;

/// Turns a colour image gray.
///
/// `gray[i][j]` is `0.2126 * red + 0.7152 * green + 0.0722 * blue` of pixel (i, j): the luma of
/// Rec. 709, with weights rounded to `f32`. The three channels of a pixel follow each other, then
/// those of the next pixel of the row. They are from 0 to 1. The tolerance leaves room for
/// products and sums in `f32` in any order, fused or not.
#[problem(
    axes(width = [4096, 1919], height = [4096]),
    cpu(axes(width = [512, 333], height = [256])),
    cuda(reference = launch(grayscale_in_double)),
    tolerance(rtol = RTOL),
    bytes = 16 * width * height,
    flops = 5 * width * height,
    hidden(width = draw(1..=400), height = draw(1..=200), count = 5),
    limits(time = "10s", source = "64 KiB"),
)]
pub fn luma(
    width: usize,
    height: usize,
    #[fill(Uniform(0.0..1.0), [height, width, 3])] rgb: &[f32],
    #[shape([height, width])] gray: &mut [f32],
) {
    for (pixel, gray) in rgb.chunks_exact(3).take(width * height).zip(gray) {
        let weighted = pixel
            .iter()
            .zip(LUMA)
            .map(|(&channel, weight)| f64::from(channel) * f64::from(weight));
        *gray = weighted.sum::<f64>() as f32;
    }
}

fn grayscale_in_double(
    launcher: &mut Launcher,
    width: usize,
    height: usize,
    rgb: In<f32>,
    gray: Out<f32>,
) -> Result<()> {
    let pixels = width * height;
    let kernel = IMAGE_REFERENCE.kernel("grayscale_in_double");
    launcher.launch(kernel, Grid::covering(pixels, 128), (rgb, gray, pixels))
}

#[gpubench(problem = luma)]
fn grayscale(launcher: &mut Launcher, width: usize, height: usize, rgb: In<f32>, gray: Out<f32>) -> Result<()> {
    let pixels = width * height;
    launcher.launch(
        IMAGE.kernel("grayscale"),
        Grid::covering(pixels, 256),
        (rgb, gray, pixels),
    )
}

#[cfg(test)]
mod tests {
    use super::{RTOL, luma};
    use crate::shortcuts::{Tolerance, no_constant_passes};
    use gpubench::Rng;

    #[test]
    fn the_reference_weighs_the_channels_of_each_pixel() {
        let mut gray = [0.0; 4];
        let rgb = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0];
        luma(2, 2, &rgb, &mut gray);
        assert_eq!(gray[..3], [0.2126, 0.7152, 0.0722]);
        assert!((gray[3] - 1.0).abs() < 1e-6);
    }

    #[test]
    fn no_constant_answer_passes() {
        let mut rng = Rng::new(1);
        let rgb: Vec<f32> = (0..3000).map(|_| rng.f32()).collect();
        let mut gray = vec![0.0; 1000];
        luma(100, 10, &rgb, &mut gray);
        no_constant_passes(&gray, Tolerance { rtol: RTOL, atol: 0.0 });
    }
}
