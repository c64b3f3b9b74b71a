//! Launch configurations.

use crate::plan::{Cooperation, Dependence};

/// A launch configuration: blocks, threads per block, and options.
///
/// ```
/// use gpubench::prelude::*;
///
/// Grid::covering(1 << 20, 256);                     // enough blocks of 256 threads for 2^20 threads
/// Grid::covering((1920, 1080), (16, 16));           // the same along x and y
/// Grid::new(132, 1024).shared(48 * 1024);           // 132 blocks of 1024 threads with 48 KiB of dynamic shared memory
/// Grid::new((8, 8, 2), (32, 8)).cluster((2, 1, 1)); // clusters of two blocks
/// ```
///
/// These methods never fail. If the device does not support the configuration, the launch returns
/// an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Grid {
    pub(super) blocks: [i128; 3],
    pub(super) threads: [i128; 3],
    pub(super) cluster: [i128; 3],
    pub(super) shared: u64,
    pub(super) cooperation: Cooperation,
    pub(super) dependence: Dependence,
}

impl Grid {
    /// Returns a grid of `blocks` blocks of `threads` threads. Each is a number, or a tuple along
    /// x, y and z.
    pub fn new(blocks: impl Dimensions, threads: impl Dimensions) -> Grid {
        Grid {
            blocks: blocks.dimensions(),
            threads: threads.dimensions(),
            cluster: [1; 3],
            shared: 0,
            cooperation: Cooperation::Independent,
            dependence: Dependence::Complete,
        }
    }

    /// Returns the smallest grid that has a thread for each of `items`, along x, y and z. Each
    /// block has `threads` threads.
    pub fn covering(items: impl Dimensions, threads: impl Dimensions) -> Grid {
        let (items, threads) = (items.dimensions(), threads.dimensions());
        let blocks = std::array::from_fn(|axis| match (items[axis], threads[axis]) {
            (items, threads) if items > 0 && threads > 0 => (items + threads - 1) / threads,
            // Zero items or threads: the launch returns the error. A real call of such a launch
            // would fail, too, so none is left out here.
            (items, _) => items.min(0),
        });
        Grid::new(blocks, threads)
    }

    /// Sets the dynamic shared memory per block, in bytes.
    pub fn shared(self, bytes: usize) -> Grid {
        Grid {
            shared: bytes as u64,
            ..self
        }
    }

    /// Groups blocks into clusters of `blocks` blocks along x, y and z. Needs compute capability
    /// 9.0.
    pub fn cluster(self, blocks: impl Dimensions) -> Grid {
        Grid {
            cluster: blocks.dimensions(),
            ..self
        }
    }

    /// Makes the launch cooperative: all blocks are resident at once, so the kernel can use a
    /// grid-wide barrier. The CPU device does not support it.
    pub fn cooperative(self) -> Grid {
        Grid {
            cooperation: Cooperation::Grid,
            ..self
        }
    }

    /// Lets the launch start before the previous one has finished (programmatic dependent launch).
    /// Needs compute capability 9.0.
    pub fn programmatic(self) -> Grid {
        Grid {
            dependence: Dependence::Programmatic,
            ..self
        }
    }
}

/// Dimensions along x, y and z: an integer, or a tuple of up to three.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a number of blocks or threads: write `n`, `(x, y)` or `(x, y, z)`"
)]
pub trait Dimensions {
    #[doc(hidden)]
    fn dimensions(self) -> [i128; 3];
}

impl Dimensions for [i128; 3] {
    fn dimensions(self) -> [i128; 3] {
        self
    }
}

/// A size along one dimension: an integer.
#[diagnostic::on_unimplemented(message = "`{Self}` is not a number of blocks or threads")]
pub trait Count {
    #[doc(hidden)]
    fn count(self) -> i128;
}

macro_rules! counts {
    ($($integer:ident)*) => {$(
        impl Count for $integer {
            fn count(self) -> i128 {
                self as i128
            }
        }

        impl Dimensions for $integer {
            fn dimensions(self) -> [i128; 3] {
                [self as i128, 1, 1]
            }
        }
    )*};
}

counts!(u8 u16 u32 u64 usize i8 i16 i32 i64 isize);

impl<X: Count, Y: Count> Dimensions for (X, Y) {
    fn dimensions(self) -> [i128; 3] {
        [self.0.count(), self.1.count(), 1]
    }
}

impl<X: Count, Y: Count, Z: Count> Dimensions for (X, Y, Z) {
    fn dimensions(self) -> [i128; 3] {
        [self.0.count(), self.1.count(), self.2.count()]
    }
}
