//! The kernels of a case's launch plan, and what each needs of the device.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::words::{shown_by_word, words};

/// A kernel that a call launches. Launches of one kernel with the same shape are one entry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct KernelUse {
    /// Name of the kernel, with its template arguments: `reduce<256>`.
    pub kernel: String,
    /// Number of launches with this shape in a call.
    pub launches: u64,
    /// Number of blocks along x, y and z.
    pub grid: [u64; 3],
    /// Threads per block along x, y and z.
    pub block: [u64; 3],
    /// Blocks per cluster along x, y and z. Null without clusters.
    pub cluster: Option<[u64; 3]>,
    /// Dynamic shared memory per block, in bytes.
    pub dynamic_shared_bytes: u64,
    /// What the kernel needs of the device. Null on the CPU device, which has no such resources,
    /// and if the device does not report them.
    pub resources: Option<KernelResources>,
}

/// What a compiled kernel needs of a GPU, and how much of the GPU it can fill. The driver reports
/// it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct KernelResources {
    /// Registers per thread.
    pub registers: u64,
    /// Local memory per thread, in bytes. It holds spilled registers, arrays that are indexed at
    /// run time, and the stack of function calls.
    pub local_bytes: u64,
    /// Bytes of registers that instructions of the kernel store to local memory, as the compiler
    /// counts them, each instruction once. Null if the tool did not compile the kernel to machine
    /// code.
    pub spill_store_bytes: Option<u64>,
    /// Bytes of registers that instructions load back from local memory, counted likewise.
    pub spill_load_bytes: Option<u64>,
    /// Static shared memory per block, in bytes.
    pub static_shared_bytes: u64,
    /// Number of blocks that a multiprocessor can hold at the same time.
    pub blocks_per_multiprocessor: u64,
    /// Occupancy: the fraction of a multiprocessor's warps that these blocks fill. Null if it is
    /// not known.
    pub occupancy: Option<f64>,
    /// What keeps a multiprocessor from holding one more block. Several if they end at the same
    /// number of blocks. Empty if it is not known.
    pub limited_by: Vec<OccupancyLimit>,
    /// Number of waves in which the blocks of the grid run: the blocks of the grid divided by those
    /// that the whole device can hold at the same time. Null if the latter is not known.
    pub waves: Option<f64>,
}

words! {
    /// A resource of a multiprocessor that limits how many blocks it can hold.
    pub enum OccupancyLimit {
        /// Its registers.
        Registers = "registers",
        /// Its shared memory.
        SharedMemory = "shared-memory",
        /// Its threads.
        Threads = "threads",
        /// Its highest number of blocks.
        Blocks = "blocks",
    }
}

shown_by_word!(OccupancyLimit);
