//! The mean of the pixels around each pixel.

use crate::rounding::U;
use gpubench::prelude::*;

cuda_source!(BOX_BLUR_REFERENCE = "references/box_blur.cu");

/// Sums of pixels are whole numbers below 2^24 for boxes of up to 65 793 pixels, so no order of
/// additions rounds. What rounds, in units of `U`: an approximate division by 2 ulp, that is 4, or
/// a reciprocal and a product by less, and the reference by 1.
const RTOL: f64 = 5.0 * U;

/// Computes the mean of the pixels around each pixel of an image.
///
/// The box of a pixel has the pixels that are at most `radius` rows and at most `radius` columns
/// away, itself included. Pixels outside of the image do not count: near the border a mean is of
/// fewer pixels.
///
/// Rows are stored one after another. The mean is a fraction, not rounded to a whole number.
#[problem(
    axes(width = [8192, 7999], height = [4320], radius = [3, 15]),
    cpu(axes(width = [96, 77], height = [60])),
    cuda(reference = launch(in_integers)),
    tolerance(rtol = RTOL),
    bytes = 5 * width * height,
    hidden(width = draw(1..=120), height = draw(1..=80), count = 4),
    limits(time = "10s", source = "64 KiB"),
)]
pub fn box_blur(
    width: usize,
    height: usize,
    radius: usize,
    #[fill(Bits, [height, width])] image: &[u8],
    #[shape([height, width])] blurred: &mut [f32],
) {
    let around = |at: usize, len: usize| at.saturating_sub(radius)..(at + radius + 1).min(len);
    for row in 0..height {
        for column in 0..width {
            let (rows, columns) = (around(row, height), around(column, width));
            let count = rows.len() * columns.len();
            let of_row = |row| {
                image[row * width..][columns.clone()]
                    .iter()
                    .map(|&pixel| u64::from(pixel))
            };
            let sum: u64 = rows.flat_map(of_row).sum();
            blurred[row * width + column] = (sum as f64 / count as f64) as f32;
        }
    }
}

fn in_integers(
    launcher: &mut Launcher,
    width: usize,
    height: usize,
    radius: usize,
    image: In<u8>,
    blurred: Out<f32>,
) -> Result<()> {
    let kernel = BOX_BLUR_REFERENCE.kernel("in_integers");
    let (columns, rows, reach) = (i32::try_from(width)?, i32::try_from(height)?, i32::try_from(radius)?);
    let grid = Grid::covering((width, height), (16, 16));
    launcher.launch(kernel, grid, (image, blurred, columns, rows, reach))
}

#[cfg(test)]
mod tests {
    use super::{RTOL, box_blur};
    use crate::shortcuts::{Tolerance, no_constant_passes};
    use gpubench::Rng;

    #[test]
    fn the_reference_takes_means_of_the_pixels_inside() {
        let mut blurred = [0.0; 6];
        box_blur(3, 2, 1, &[1, 2, 3, 4, 5, 255], &mut blurred);
        assert_eq!(blurred, [3.0, 45.0, 66.25, 3.0, 45.0, 66.25]);
    }

    #[test]
    fn no_constant_answer_passes() {
        let mut rng = Rng::new(1);
        let image: Vec<u8> = (0..2000).map(|_| rng.next_u32() as u8).collect();
        let mut blurred = vec![0.0; 2000];
        box_blur(50, 40, 3, &image, &mut blurred);
        no_constant_passes(&blurred, Tolerance { rtol: RTOL, atol: 0.0 });
    }
}
