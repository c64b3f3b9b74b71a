//! The histogram of byte values, with atomic additions.

use gpubench::prelude::*;

cuda_source!(HISTOGRAM = "histogram.cu");
cuda_source!(HISTOGRAM_REFERENCE = "references/histogram.cu");

fn value_by_value(launcher: &mut Launcher, n: usize, pixels: In<u8>, bins: Out<u32>) -> Result<()> {
    launcher.launch(
        HISTOGRAM_REFERENCE.kernel("count_one_value"),
        Grid::new(256, 256),
        (pixels, bins, n),
    )
}

/// Counts how often each value occurs among the pixels of an image.
///
/// `bins[v]` is the number of pixels with the value v, for all 256 values. The image is dark: some
/// values are many times as frequent as others.
//
// Pixels of real images are not spread evenly over the bins either: many threads contend for few
// bins, and no two bins have the same count.
#[problem(
    axes(n = [1 << 24, 10_000_019]),
    cpu(axes(n = [1 << 17, 100_003])),
    cuda(reference = launch(value_by_value)),
    bytes = n + 4 * 256,
    hidden(n = draw(1..=100_000), count = 5),
    limits(time = "10s", source = "64 KiB"),
)]
pub fn histogram(
    n: usize,
    #[fill(ByKernel(HISTOGRAM_REFERENCE.kernel("dark_image")), n)] pixels: &[u8],
    #[shape(256)] bins: &mut [u32],
) {
    bins.fill(0);
    for &pixel in &pixels[..n] {
        bins[usize::from(pixel)] += 1;
    }
}

/// At most eight blocks per multiprocessor, each of which loops over the image in strides.
fn grid(launcher: &Launcher, n: usize) -> Grid {
    const THREADS: usize = 256;
    let resident = 8 * launcher.device().multiprocessors as usize;
    Grid::new(n.div_ceil(THREADS).min(resident), THREADS)
}

#[gpubench(problem = histogram)]
fn global_atomics(launcher: &mut Launcher, n: usize, pixels: In<u8>, bins: Out<u32>) -> Result<()> {
    launcher.memset(bins, 0)?;
    launcher.launch(HISTOGRAM.kernel("global_atomics"), grid(launcher, n), (pixels, bins, n))
}

#[gpubench(problem = histogram)]
fn privatised(launcher: &mut Launcher, n: usize, pixels: In<u8>, bins: Out<u32>) -> Result<()> {
    launcher.memset(bins, 0)?;
    launcher.launch(HISTOGRAM.kernel("privatised"), grid(launcher, n), (pixels, bins, n))
}

#[cfg(test)]
mod tests {
    use super::histogram;
    use crate::shortcuts::{Tolerance, no_constant_passes_twice};
    use gpubench::Rng;

    #[test]
    fn the_reference_counts_every_pixel_once() {
        let mut bins = [77; 256];
        histogram(5, &[0, 255, 3, 3, 0], &mut bins);
        assert_eq!((bins[0], bins[3], bins[255]), (2, 2, 1));
        assert_eq!(bins.iter().sum::<u32>(), 5);
    }

    #[test]
    fn the_largest_bin_differs_from_call_to_call() {
        let mut rng = Rng::new(1);
        let count = |rng: &mut Rng| {
            let pixels: Vec<u8> = (0..100_003).map(|_| (rng.next_u32() & rng.next_u32()) as u8).collect();
            let mut bins = [0; 256];
            histogram(pixels.len(), &pixels, &mut bins);
            bins[0]
        };
        let counts: Vec<u32> = (0..5).map(|_| count(&mut rng)).collect();
        no_constant_passes_twice(&counts, Tolerance::EXACT);
    }
}
