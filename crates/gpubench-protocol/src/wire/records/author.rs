//! Orders to an author, and its failures.

use std::num::NonZeroU32;

use bytemuck::{CheckedBitPattern, NoUninit, Pod, Zeroable};

use gpubench_device::KernelHost;

/// Head of an `ATTACH` frame.
#[derive(Clone, Copy, Debug, CheckedBitPattern, NoUninit)]
#[repr(C)]
pub struct Attach {
    /// Position in the catalog.
    pub benchmark: u32,
    /// Number of layouts that follow, one for each tensor.
    pub tensors: u32,
    /// Bytes of the module positions after the layouts.
    pub module_bytes: u32,
    /// Bytes of the encoded request after the modules. The rest is the recording.
    pub request_bytes: u32,
    /// The process that runs kernels of generators and references.
    pub kernels_run_in: KernelHost,
    /// Number of calls that the recording holds, each with its own tensors.
    pub calls: NonZeroU32,
}

/// An order to generate the author's inputs of a window, with seeds from the referee.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Generate {
    /// Seed of the window.
    pub seed: u64,
    /// Seed of the case's constants.
    pub constant_seed: u64,
    /// The window. Constants are generated only for window 0.
    pub window: u32,
    /// Zero.
    pub reserved: u32,
}

/// The kind of an author's failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, CheckedBitPattern)]
#[repr(u32)]
pub enum AuthorFailure {
    /// The user's function returned an error.
    Returned = 1,
    /// The user's function panicked.
    Panicked = 2,
    /// The crate's library cannot be used.
    Library = 3,
    /// The library has no benchmarks: the runtime's symbol is missing.
    NoBenchmarks = 4,
    /// A kernel of a generator or of the reference failed.
    Kernel = 5,
    /// The tool failed.
    Internal = 6,
    /// No failure: the user's function skips the case.
    Skipped = 7,
}
