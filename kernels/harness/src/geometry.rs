//! Recommended launch geometries of the harness kernels.

use std::num::NonZeroU32;

use crate::Kernel;

/// The execution units of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Processors {
    /// Cores that run one thread at a time and prefer long contiguous runs: the CPU device's worker
    /// threads.
    Cores(NonZeroU32),
    /// Multiprocessors that run very many threads each: a GPU's.
    Multiprocessors(NonZeroU32),
}

/// The geometry of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Blocks along x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block along x, y and z.
    pub block: [u32; 3],
}

impl Geometry {
    /// Returns the number of threads of the launch.
    pub fn threads(self) -> u64 {
        product(self.grid) * product(self.block)
    }

    /// Returns the number of partials that [`Kernel::Check`] and [`Kernel::NoiseCheck`] can use:
    /// one per thread, or on multiprocessors one per block.
    pub fn reporters(self, processors: Processors) -> u64 {
        match processors {
            Processors::Cores(_) => self.threads(),
            Processors::Multiprocessors(_) => product(self.grid),
        }
    }
}

fn product(extents: [u32; 3]) -> u64 {
    extents.iter().map(|&extent| u64::from(extent)).product()
}

/// The bytes below which another block does not pay on the CPU device: a few microseconds of work.
const BYTES_PER_FAT_THREAD: u64 = 16 << 10;
/// Blocks per core. With several, other cores take the work of a core that starts late or is
/// interrupted.
const BLOCKS_PER_CORE: u32 = 4;
/// Threads per block on a GPU: the maximum that the kernels are compiled for.
const THIN_BLOCK: u32 = 256;

/// Bytes that a GPU thread handles at once.
fn bytes_per_thin_thread(kernel: Kernel) -> u64 {
    match kernel {
        // A warp handles a tile of 4 KiB.
        Kernel::Check | Kernel::Digest => 128,
        _ => 16,
    }
}

/// Blocks per multiprocessor of a GPU: as many as its registers allow. A digest gets only two,
/// which are enough to keep the memory busy: each block adds to a word that may be in host memory,
/// and each access crosses the bus.
fn thin_blocks_each(kernel: Kernel) -> u32 {
    match kernel {
        Kernel::Digest => 2,
        Kernel::Check => 3,
        Kernel::Fill | Kernel::NoiseCheck => 4,
        Kernel::Noise | Kernel::Lines | Kernel::Reveal | Kernel::Flush | Kernel::Twin | Kernel::Stamp => 8,
    }
}

/// Returns a good geometry for a kernel that processes `bytes` bytes. Every kernel is also correct
/// with any other grid, and with any block of up to 256 threads.
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
        Processors::Multiprocessors(count) => (
            bytes.div_ceil(bytes_per_thin_thread(kernel)),
            count.get().saturating_mul(thin_blocks_each(kernel)),
            THIN_BLOCK,
        ),
    };
    let blocks = threads_wanted
        .div_ceil(u64::from(block))
        .clamp(1, u64::from(most_blocks));
    // The value is at most `most_blocks`, so it fits.
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
    fn checks_write_a_partial_per_block_on_a_gpu_and_per_thread_elsewhere() {
        let processors = Processors::Multiprocessors(NonZeroU32::new(132).expect("not zero"));
        let check = geometry(Kernel::Check, 1 << 40, processors);
        assert_eq!((check.threads(), check.reporters(processors)), (3 * 132 * 256, 3 * 132));
        let cores = Processors::Cores(NonZeroU32::new(2).expect("not zero"));
        assert_eq!(geometry(Kernel::Check, 1 << 40, cores).reporters(cores), 8);
    }

    #[test]
    fn a_gpu_gets_no_more_blocks_than_fit_its_multiprocessors() {
        let processors = Processors::Multiprocessors(NonZeroU32::new(132).expect("not zero"));
        assert_eq!(geometry(Kernel::Digest, 1 << 40, processors).grid, [2 * 132, 1, 1]);
        assert_eq!(geometry(Kernel::Digest, 64 << 10, processors).grid, [2, 1, 1]);
        assert_eq!(geometry(Kernel::Stamp, 1 << 40, processors).threads(), 1);
    }
}
