//! Max pooling of planes, with windows whose elements may be apart.

use gpubench::prelude::*;

cuda_source!(MAX_POOL_REFERENCE = "references/max_pool_2d.cu");

/// Nearly all elements are negative, so a kernel that takes zeros for what lies outside of a plane
/// is wrong along its border.
const ELEMENTS: Normal = Normal {
    mean: -4.0,
    stddev: 1.0,
};

/// Elements along a side of a window.
const WINDOW: usize = 5;

/// Rows and columns from the centre of one window to that of the next.
const STRIDE: usize = 2;

/// Computes the largest element of each window of a plane.
///
/// A window has 5 by 5 elements, which are `dilation` rows and columns apart. Windows are centred
/// on the elements of rows 0, 2, 4 and so on, and of columns 0, 2, 4 and so on: `y[p][i][j]` is the
/// largest `x[p][2 * i + a * dilation][2 * j + b * dilation]` with a and b from -2 to 2. Elements
/// outside of the plane do not count.
///
/// Planes, rows and columns are stored in this order, without gaps. The comparison is exact: each
/// output is a copy of an input.
#[problem(
    axes(planes = [64], height = [1024], width = [1024, 999], dilation = [1, 2]),
    cpu(axes(planes = [2], height = [64], width = [64, 51])),
    cuda(reference = launch(column_by_column)),
    exact,
    bytes = 4 * planes * height * width + 4 * planes * height.div_ceil(2) * width.div_ceil(2),
    hidden(height = draw(1..=70), width = draw(1..=70), count = 4),
    limits(time = "10s", source = "64 KiB"),
)]
pub fn max_pool_2d(
    planes: usize,
    height: usize,
    width: usize,
    dilation: usize,
    #[fill(ELEMENTS, [planes, height, width])] x: &[f32],
    #[shape([planes, height.div_ceil(2), width.div_ceil(2)])] y: &mut [f32],
) {
    let (rows, columns) = (height.div_ceil(STRIDE), width.div_ceil(STRIDE));
    let reach = WINDOW / 2 * dilation;
    // Coordinates are shifted by the reach, so none is negative.
    let inside = |centre: usize, len: usize| {
        (0..WINDOW)
            .map(move |step| STRIDE * centre + step * dilation)
            .filter(move |at| (reach..len + reach).contains(at))
            .map(move |at| at - reach)
    };
    for plane in 0..planes {
        let x = &x[plane * height * width..][..height * width];
        for row in 0..rows {
            for column in 0..columns {
                let elements = inside(row, height).flat_map(|i| inside(column, width).map(move |j| x[i * width + j]));
                y[(plane * rows + row) * columns + column] = elements.fold(f32::NEG_INFINITY, f32::max);
            }
        }
    }
}

fn column_by_column(
    launcher: &mut Launcher,
    planes: usize,
    height: usize,
    width: usize,
    dilation: usize,
    x: In<f32>,
    y: Out<f32>,
) -> Result<()> {
    let kernel = MAX_POOL_REFERENCE.kernel("column_by_column");
    let outputs = planes * height.div_ceil(STRIDE) * width.div_ceil(STRIDE);
    let extents = (
        planes,
        i64::try_from(height)?,
        i64::try_from(width)?,
        i64::try_from(dilation)?,
    );
    let (planes, height, width, dilation) = extents;
    launcher.launch(
        kernel,
        Grid::covering(outputs, 128),
        (x, y, planes, height, width, dilation),
    )
}

#[cfg(test)]
mod tests {
    use super::{ELEMENTS, max_pool_2d};
    use crate::shortcuts::{Tolerance, no_constant_passes};
    use gpubench::Rng;

    #[test]
    fn the_reference_takes_the_largest_of_each_window() {
        let x: Vec<f32> = (0..35).map(|i| -f32::from(i as u8)).collect();
        let mut y = [0.0; 12];
        max_pool_2d(1, 5, 7, 1, &x, &mut y);
        assert_eq!(
            y,
            [0.0, 0.0, -2.0, -4.0, 0.0, 0.0, -2.0, -4.0, -14.0, -14.0, -16.0, -18.0]
        );
    }

    #[test]
    fn a_dilated_window_skips_elements() {
        let x = [-9.0, -1.0, -8.0, -2.0, -7.0, -3.0];
        let mut y = [0.0; 3];
        max_pool_2d(1, 1, 6, 2, &x, &mut y);
        assert_eq!(y, [-7.0, -7.0, -7.0]);
    }

    #[test]
    fn no_constant_answer_passes() {
        let mut rng = Rng::new(1);
        let x: Vec<f32> = (0..2000)
            .map(|_| (ELEMENTS.mean + ELEMENTS.stddev * rng.normal()) as f32)
            .collect();
        let mut y = vec![0.0; 500];
        max_pool_2d(1, 50, 40, 1, &x, &mut y);
        no_constant_passes(&y, Tolerance::EXACT);
    }
}
