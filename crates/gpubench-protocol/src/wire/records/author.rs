//! What an author is told, and whose fault it is when it cannot.

use bytemuck::{CheckedBitPattern, NoUninit, Pod, Zeroable};

use gpubench_device::KernelHost;

/// Head of an `ATTACH` frame.
#[derive(Clone, Copy, Debug, CheckedBitPattern, NoUninit)]
#[repr(C)]
pub struct Attach {
    /// Position in the catalog.
    pub benchmark: u32,
    /// Layouts that follow, one for every tensor.
    pub tensors: u32,
    /// Bytes of the positions of modules that follow the layouts.
    pub module_bytes: u32,
    /// Bytes of the encoded request that follow them; the recording takes the rest.
    pub request_bytes: u32,
    /// Who runs kernels of generators and references.
    pub kernels_run_in: KernelHost,
}

/// An order to generate the author's inputs of a window, with the seeds that the referee draws for
/// it.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Generate {
    /// Seed of the window.
    pub seed: u64,
    /// Seed of the case's constants.
    pub constant_seed: u64,
    /// The window; constants are generated for window 0 alone.
    pub window: u32,
    /// Zero.
    pub reserved: u32,
}

/// Whose fault it is that an author could not carry out an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, CheckedBitPattern)]
#[repr(u32)]
pub enum AuthorFailure {
    /// The user's function returned an error.
    Returned = 1,
    /// The user's function panicked.
    Panicked = 2,
    /// The crate's library cannot be used.
    Library = 3,
    /// The library has no benchmarks: it does not have the runtime's symbol.
    NoBenchmarks = 4,
    /// A kernel of a generator or of the reference failed.
    Kernel = 5,
    /// Ours.
    Internal = 6,
    /// Nobody's: the user's function says that the case is to be skipped.
    Skipped = 7,
}
