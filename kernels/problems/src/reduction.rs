//! The sum of a vector in two launches: one sum per block or cluster, then the sum of those.

use gpubench::prelude::*;
use std::ops::RangeInclusive;

cuda_source!(REDUCTION = "reduction.cu");
cuda_source!(REDUCTION_REFERENCE = "references/reduction.cu");
cuda_source!(HOPPER = "reduction_hopper.cu");

/// Whole numbers whose partial sums stay below 2^24 in any order: 2^24 of them add up to 2^23 on
/// average, give or take 21 000. Such sums of `f32` do not round. The comparison is therefore
/// exact, and a single missing element shows.
const ELEMENTS: RangeInclusive<i32> = -8..=9;

/// Threads per block.
const THREADS: usize = 256;

/// Blocks per cluster: a number that every device with clusters supports.
const CLUSTER: usize = 8;

fn in_integers(launcher: &mut Launcher, n: usize, x: In<f32>, sum: Out<f32>) -> Result<()> {
    let integer = launcher.scratch::<i64>(1)?;
    launcher.memset(integer, 0)?;
    launcher.launch(
        REDUCTION_REFERENCE.kernel("add_as_integers"),
        Grid::new(256, 64),
        (x, integer, n),
    )?;
    launcher.launch(REDUCTION_REFERENCE.kernel("as_float"), Grid::new(1, 1), (integer, sum))
}

/// Sums the elements of a vector.
///
/// The elements are whole numbers from -8 to 9, stored as `f32`. No sum of some of them is so large
/// that it would have to be rounded, so they may be added in any order, and the comparison is
/// exact. The result is a single number.
#[problem(
    axes(n = [1 << 24, 10_000_019]),
    cpu(axes(n = [1 << 16, 50_021])),
    cuda(reference = launch(in_integers)),
    exact,
    bytes = 4 * n + 4,
    flops = n - 1,
    hidden(n = draw(1..=70_000), count = 5),
    limits(time = "10s", source = "64 KiB"),
)]
pub fn reduction(n: usize, #[fill(Integers(ELEMENTS), n)] x: &[f32], #[shape(1)] sum: &mut [f32]) {
    sum[0] = x[..n].iter().map(|&x| f64::from(x)).sum::<f64>() as f32;
}

/// Enough blocks to keep the device busy, with at least eight elements per thread.
fn blocks(launcher: &Launcher, n: usize) -> usize {
    let resident = 8 * launcher.device().multiprocessors as usize;
    n.div_ceil(8 * THREADS).min(resident)
}

fn reduce(launcher: &mut Launcher, kernel: &str, n: usize, x: In<f32>, sum: Out<f32>) -> Result<()> {
    let kernel = REDUCTION.kernel(format!("{kernel}<{THREADS}>"));
    let blocks = blocks(launcher, n);
    let sums = launcher.scratch::<f32>(blocks)?;
    launcher.launch(kernel.clone(), Grid::new(blocks, THREADS), (x, sums, n))?;
    launcher.launch(kernel, Grid::new(1, THREADS), (sums, sum, blocks))
}

#[gpubench(problem = reduction)]
fn shared_memory(launcher: &mut Launcher, n: usize, x: In<f32>, sum: Out<f32>) -> Result<()> {
    reduce(launcher, "shared_memory", n, x, sum)
}

#[gpubench(problem = reduction)]
fn warp_shuffle(launcher: &mut Launcher, n: usize, x: In<f32>, sum: Out<f32>) -> Result<()> {
    reduce(launcher, "warp_shuffle", n, x, sum)
}

/// As many blocks as are resident at once, which share the vector.
#[gpubench(problem = reduction)]
fn persistent(launcher: &mut Launcher, n: usize, x: In<f32>, sum: Out<f32>) -> Result<()> {
    let kernel = REDUCTION.kernel(format!("warp_shuffle<{THREADS}>"));
    let blocks = launcher.occupancy(&kernel, THREADS as u32, 0)? * launcher.device().multiprocessors;
    let sums = launcher.scratch::<f32>(blocks as usize)?;
    launcher.launch(kernel.clone(), Grid::new(blocks, THREADS), (x, sums, n))?;
    launcher.launch(kernel, Grid::new(1, THREADS), (sums, sum, blocks as usize))
}

/// The second launch starts before the first has ended.
#[gpubench(problem = reduction, requires(capability = 9.0))]
fn programmatic(launcher: &mut Launcher, n: usize, x: In<f32>, sum: Out<f32>) -> Result<()> {
    let blocks = blocks(launcher, n);
    let sums = launcher.scratch::<f32>(blocks)?;
    let first = HOPPER.kernel(format!("first_of_pair<{THREADS}>"));
    launcher.launch(first, Grid::new(blocks, THREADS), (x, sums, n))?;
    let second = HOPPER.kernel(format!("second_of_pair<{THREADS}>"));
    let grid = Grid::new(1, THREADS).programmatic();
    launcher.launch(second, grid, (sums, sum, u32::try_from(blocks)?))
}

/// One sum per cluster of blocks, which share their shared memory.
#[gpubench(problem = reduction, requires(capability = 9.0))]
fn cluster(launcher: &mut Launcher, n: usize, x: In<f32>, sum: Out<f32>) -> Result<()> {
    let clusters = blocks(launcher, n).div_ceil(CLUSTER);
    let sums = launcher.scratch::<f32>(clusters)?;
    let kernel = HOPPER.kernel(format!("across_cluster<{THREADS}, {CLUSTER}>"));
    let grid = Grid::new(clusters * CLUSTER, THREADS).cluster(CLUSTER);
    launcher.launch(kernel, grid, (x, sums, n))?;
    let last = REDUCTION.kernel(format!("warp_shuffle<{THREADS}>"));
    launcher.launch(last, Grid::new(1, THREADS), (sums, sum, clusters))
}

#[cfg(test)]
mod tests {
    use super::{ELEMENTS, reduction};
    use crate::shortcuts::{Tolerance, no_constant_passes_twice};
    use gpubench::Rng;

    fn draw(rng: &mut Rng, n: usize) -> Vec<f32> {
        let span = (ELEMENTS.end() - ELEMENTS.start() + 1) as u64;
        (0..n)
            .map(|_| (rng.below(span) as i32 + ELEMENTS.start()) as f32)
            .collect()
    }

    fn sum(x: &[f32]) -> f32 {
        let mut sum = [0.0];
        reduction(x.len(), x, &mut sum);
        sum[0]
    }

    #[test]
    fn the_reference_adds_all_elements() {
        assert_eq!(sum(&[1.0, -8.0, 9.0, 4.0]), 6.0);
    }

    #[test]
    fn the_order_of_summation_does_not_matter() {
        let mut rng = Rng::new(1);
        let mut x = draw(&mut rng, 1 << 20);
        let expected = sum(&x);
        assert_eq!(x.iter().sum::<f32>(), expected);
        // The largest possible partial sums.
        x.sort_by(f32::total_cmp);
        assert_eq!(x.iter().sum::<f32>(), expected);
    }

    #[test]
    fn no_constant_answer_passes() {
        let mut rng = Rng::new(1);
        let sums: Vec<f32> = (0..20).map(|_| sum(&draw(&mut rng, 50_021))).collect();
        no_constant_passes_twice(&sums, Tolerance::EXACT);
    }
}
