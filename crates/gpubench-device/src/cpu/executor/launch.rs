//! The shape of a launch and the order of its blocks and threads.

/// The most threads per block, as on every GPU.
pub const MAX_THREADS_PER_BLOCK: u32 = 1024;

/// The most dynamic shared memory per block in bytes: what compute capability 9.0 allows after
/// opting in.
pub const MAX_DYNAMIC_SHARED: u32 = 227 * 1024;

/// The extents of a launch; `gb_shape` in the kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct LaunchShape {
    /// Blocks along x, y and z; none zero.
    pub grid: [u32; 3],
    /// Threads per block along x, y and z; none zero, at most [`MAX_THREADS_PER_BLOCK`] in total.
    pub block: [u32; 3],
    /// Dynamic shared memory per block in bytes, at most [`MAX_DYNAMIC_SHARED`].
    pub dynamic_shared: u32,
}

impl LaunchShape {
    /// Returns the number of blocks in the grid.
    pub fn blocks(&self) -> u64 {
        self.grid.iter().map(|&extent| u64::from(extent)).product()
    }

    /// Returns the number of threads per block.
    pub fn threads(&self) -> u32 {
        self.block.iter().product()
    }

    pub(super) fn is_runnable(&self) -> bool {
        let product = |extents: [u32; 3]| extents.into_iter().map(u64::from).try_fold(1, u64::checked_mul);
        let (threads, blocks) = (product(self.block), product(self.grid));
        threads.is_some_and(|n| (1..=u64::from(MAX_THREADS_PER_BLOCK)).contains(&n))
            && blocks.is_some_and(|n| n > 0)
            && self.dynamic_shared <= MAX_DYNAMIC_SHARED
    }

    /// Returns whether `blockIdx.x * blockDim.x + threadIdx.x` stays below 2^31, as the fast
    /// variant of a kernel assumes.
    pub(super) fn fits_fast_form(&self) -> bool {
        u64::from(self.grid[0]) * u64::from(self.block[0]) <= 0x7fff_ffff - 1024
    }

    /// Returns the position of block number `linear`; x varies fastest.
    pub(super) fn block_at(&self, linear: u64) -> [u32; 3] {
        let (x, y) = (u64::from(self.grid[0]), u64::from(self.grid[1]));
        [(linear % x) as u32, (linear / x % y) as u32, (linear / x / y) as u32]
    }
}

/// The order of a launch's blocks, and of a block's threads between two barriers. If a kernel lacks
/// a barrier or its blocks depend on each other, it may be right in one order and wrong in another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScheduleSeed {
    /// In order of the index, with blocks on all threads of a pool at once. This is the fastest.
    #[default]
    Natural,
    /// In permutations that depend on the seed. Blocks run one after another, so that the same seed
    /// gives the same result.
    Permuted(u64),
}

impl ScheduleSeed {
    /// Returns the order of `count` threads; `None` for the natural one.
    pub(super) fn order(self, count: u32) -> Option<Vec<u32>> {
        match self {
            ScheduleSeed::Natural => None,
            ScheduleSeed::Permuted(seed) => {
                let mut order: Vec<u32> = (0..count).collect();
                fastrand::Rng::with_seed(seed).shuffle(&mut order);
                Some(order)
            }
        }
    }

    /// Returns the order of `blocks` blocks; `None` for the natural one.
    pub(super) fn order_of_blocks(self, blocks: u64) -> Option<BlockOrder> {
        let ScheduleSeed::Permuted(seed) = self else {
            return None;
        };
        let mut random = fastrand::Rng::with_seed(seed);
        (blocks > 1).then(|| {
            loop {
                let (first, step) = (random.u64(1..blocks), random.u64(1..blocks));
                if common_divisor(step, blocks) == 1 && first + 1 != step {
                    return BlockOrder { blocks, first, step };
                }
            }
        })
    }
}

/// An order of blocks with a constant step, modulo the number of blocks. Neither the first block
/// comes first nor the last one last.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockOrder {
    blocks: u64,
    first: u64,
    step: u64,
}

impl BlockOrder {
    /// Returns the number of the block at a position.
    pub(super) fn at(self, position: u64) -> u64 {
        let number = u128::from(self.first) + u128::from(position) * u128::from(self.step);
        (number % u128::from(self.blocks)) as u64
    }
}

fn common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(grid: [u32; 3], block: [u32; 3]) -> LaunchShape {
        LaunchShape {
            grid,
            block,
            dynamic_shared: 0,
        }
    }

    #[test]
    fn extents_whose_products_overflow_are_not_runnable() {
        assert!(shape([1, 1, 1], [32, 32, 1]).is_runnable());
        assert!(!shape([1, 1, 1], [1 << 16, 1 << 16, 1]).is_runnable());
        assert!(!shape([u32::MAX; 3], [1, 1, 1]).is_runnable());
        let greedy = LaunchShape {
            dynamic_shared: MAX_DYNAMIC_SHARED + 1,
            ..shape([1; 3], [1; 3])
        };
        assert!(!greedy.is_runnable());
    }

    #[test]
    fn grids_with_thread_indices_above_31_bits_run_in_the_precise_form() {
        assert!(shape([(1 << 21) - 1, 9, 9], [1023, 1, 1]).fits_fast_form());
        assert!(!shape([1 << 21, 1, 1], [1024, 1, 1]).fits_fast_form());
    }

    #[test]
    fn blocks_are_numbered_with_x_fastest() {
        let shape = shape([3, 2, 4], [1, 1, 1]);
        assert_eq!(shape.block_at(0), [0, 0, 0]);
        assert_eq!(shape.block_at(5), [2, 1, 0]);
        assert_eq!(shape.block_at(23), [2, 1, 3]);
    }

    #[test]
    fn the_same_seed_gives_the_same_permutation() {
        let order = ScheduleSeed::Permuted(5).order(100).expect("an order");
        assert_eq!(ScheduleSeed::Permuted(5).order(100).expect("an order"), order);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert!(sorted.iter().copied().eq(0..100) && sorted != order);
    }

    #[test]
    fn an_order_of_blocks_has_each_once_and_moves_both_ends() {
        for (seed, blocks) in (1..4).flat_map(|seed| (2..200).map(move |blocks| (seed, blocks))) {
            let order = ScheduleSeed::Permuted(seed).order_of_blocks(blocks).expect("an order");
            let mut numbers: Vec<u64> = (0..blocks).map(|position| order.at(position)).collect();
            assert!(numbers[0] != 0 && numbers.last() != Some(&(blocks - 1)), "{numbers:?}");
            numbers.sort_unstable();
            assert!(numbers.iter().copied().eq(0..blocks), "{numbers:?}");
        }
        let largest = 0x7fff_ffff * 0xffff * 0xffff;
        let order = ScheduleSeed::Permuted(1).order_of_blocks(largest).expect("an order");
        assert!(order.at(largest - 1) < largest);
    }
}
