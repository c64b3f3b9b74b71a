//! What an author is told, and whose fault it is when it cannot.

use bytemuck::{Pod, Zeroable};

/// The benchmark an order to the author is about.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct BenchmarkNumber {
    /// Position in the catalog.
    pub benchmark: u32,
    /// Zero.
    pub reserved: u32,
}

/// Head of an `ATTACH` frame.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
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
    /// A [`CodeHome`](gpubench_device::CodeHome) as number.
    pub kernels_run_in: u32,
}

/// An order to generate the author's inputs of a window.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
}

impl AuthorFailure {
    /// The failure of a number; a number that is none of ours is taken for ours to mend.
    pub fn from_number(number: u32) -> AuthorFailure {
        use AuthorFailure::*;
        [Returned, Panicked, Library, NoBenchmarks, Kernel]
            .into_iter()
            .find(|failure| *failure as u32 == number)
            .unwrap_or(Internal)
    }
}
