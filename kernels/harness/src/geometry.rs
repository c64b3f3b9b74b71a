//! How many threads a harness kernel should get.

use std::num::NonZeroU32;

use crate::Kernel;

/// What the device has to run threads on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Processors {
    /// Cores that run one thread at a time, each best in long straight runs: the CPU device's worker threads.
    Cores(NonZeroU32),
    /// Multiprocessors that run very many threads: a GPU's.
    Multiprocessors(NonZeroU32),
}

/// The extents of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Blocks along x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block along x, y and z.
    pub block: [u32; 3],
}

impl Geometry {
    /// Threads of the whole launch: as many partials as [`Kernel::Check`] and [`Kernel::NoiseCheck`] can use.
    pub fn threads(self) -> u64 {
        self.grid
            .iter()
            .chain(&self.block)
            .map(|&extent| u64::from(extent))
            .product()
    }
}

/// The work below which another block does not pay on the CPU device: a few microseconds.
const BYTES_PER_FAT_THREAD: u64 = 16 << 10;
/// Blocks per core, so that cores which start late or are interrupted leave work to the others.
const BLOCKS_PER_CORE: u32 = 4;
/// What a thread of a GPU handles at once.
const BYTES_PER_THIN_THREAD: u64 = 16;
const THIN_BLOCK: u32 = 256;

/// A good geometry for a kernel that goes through `bytes` bytes. Every kernel is right with every other geometry too.
pub fn geometry(kernel: Kernel, bytes: u64, processors: Processors) -> Geometry {
    if kernel == Kernel::Stamp {
        return Geometry {
            grid: [1, 1, 1],
            block: [1, 1, 1],
        };
    }
    let (threads_wanted, most_blocks, block) = match processors {
        Processors::Cores(cores) => (
            bytes.div_ceil(BYTES_PER_FAT_THREAD),
            cores.get().saturating_mul(BLOCKS_PER_CORE),
            1,
        ),
        Processors::Multiprocessors(count) => {
            // Every thread of these two writes a partial, and the host reads them all.
            let blocks_each = if matches!(kernel, Kernel::Check | Kernel::NoiseCheck) {
                1
            } else {
                8
            };
            (
                bytes.div_ceil(BYTES_PER_THIN_THREAD),
                count.get().saturating_mul(blocks_each),
                THIN_BLOCK,
            )
        }
    };
    let blocks = threads_wanted
        .div_ceil(u64::from(block))
        .clamp(1, u64::from(most_blocks));
    // At most `most_blocks`, so it fits.
    Geometry {
        grid: [u32::try_from(blocks).unwrap_or(u32::MAX), 1, 1],
        block: [block, 1, 1],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_work_stays_on_one_core() {
        let cores = Processors::Cores(NonZeroU32::new(64).expect("not zero"));
        assert_eq!(geometry(Kernel::Fill, 0, cores).threads(), 1);
        assert_eq!(geometry(Kernel::Fill, 16 << 10, cores).threads(), 1);
        assert_eq!(geometry(Kernel::Fill, 1 << 40, cores).threads(), 256);
    }

    #[test]
    fn checks_on_a_gpu_leave_few_partials() {
        let processors = Processors::Multiprocessors(NonZeroU32::new(132).expect("not zero"));
        assert_eq!(geometry(Kernel::Check, 1 << 40, processors).threads(), 132 * 256);
        assert_eq!(geometry(Kernel::Digest, 1 << 40, processors).threads(), 8 * 132 * 256);
        assert_eq!(geometry(Kernel::Stamp, 1 << 40, processors).threads(), 1);
    }
}
