//! Sorting of keys of 32 bits.

use gpubench::prelude::*;

cuda_source!(SORT_REFERENCE = "references/sort.cu");

/// Sorts keys in ascending order.
///
/// The keys are unsigned numbers of 32 bits. `order` says how they come, and a kernel may not rely
/// on it: `random` are any bits, but about a quarter of the keys are from a narrow range, so that
/// only their low bits differ, `few_distinct` are 13 different values in random places, and
/// `descending` are already sorted, the wrong way round. The comparison is exact.
#[problem(
    axes(n = [1 << 24, 10_000_019], order = ["random", "few_distinct", "descending"]),
    cpu(axes(n = [1 << 13, 5_003])),
    cuda(reference = launch(bitonic)),
    bytes = 8 * n,
    hidden(n = draw(1..=10_000), count = 3),
    limits(time = "10s", source = "64 KiB"),
)]
pub fn sort(
    n: usize,
    order: &str,
    #[fill(ByKernel(SORT_REFERENCE.kernel(format!("{order}_keys"))), n)] keys: &[u32],
    #[shape(n)] sorted: &mut [u32],
) {
    debug_assert!(keys.len() == n && !order.is_empty());
    sorted.copy_from_slice(keys);
    sorted.sort_unstable();
}

/// Sorts by Batcher's bitonic network, in one launch for each of its stages.
fn bitonic(launcher: &mut Launcher, n: usize, _order: &str, keys: In<u32>, sorted: Out<u32>) -> Result<()> {
    let size = n.next_power_of_two();
    let padded = launcher.scratch::<u32>(size)?;
    let grid = Grid::covering(size, 256);
    launcher.launch(SORT_REFERENCE.kernel("pad"), grid, (keys, padded, n, size))?;
    let mut length = 2;
    while length <= size {
        let mut distance = length / 2;
        while distance > 0 {
            let kernel = SORT_REFERENCE.kernel("compare_and_swap");
            launcher.launch(kernel, grid, (padded, length, distance, size))?;
            distance /= 2;
        }
        length *= 2;
    }
    launcher.launch(
        SORT_REFERENCE.kernel("unpad"),
        Grid::covering(n, 256),
        (padded, sorted, n),
    )
}

#[cfg(test)]
mod tests {
    use super::sort;
    use crate::shortcuts::{Tolerance, no_constant_passes};
    use gpubench::Rng;

    #[test]
    fn the_reference_sorts_unsigned_numbers() {
        let mut sorted = [0; 5];
        sort(5, "random", &[7, u32::MAX, 0, 1 << 31, 7], &mut sorted);
        assert_eq!(sorted, [0, 7, 7, 1 << 31, u32::MAX]);
    }

    #[test]
    fn no_constant_answer_passes() {
        let mut rng = Rng::new(1);
        let keys: Vec<u32> = (0..1000).map(|_| rng.next_u32()).collect();
        let mut sorted = vec![0; 1000];
        sort(1000, "random", &keys, &mut sorted);
        no_constant_passes(&sorted, Tolerance::EXACT);
    }
}
