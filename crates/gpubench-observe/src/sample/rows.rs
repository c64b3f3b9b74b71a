//! How many rows a record has.

/// The most rows of each table. What exceeds them is counted in the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows {
    /// Processes that run.
    pub running: usize,
    /// Processes that ended.
    pub ended: usize,
    /// Kernels.
    pub kernels: usize,
    /// Errors.
    pub errors: usize,
    /// Allocations of a process one by one, if the ledger lists as many.
    pub allocations: usize,
}

impl Rows {
    /// A record of each interval.
    pub const SAMPLE: Rows = Rows {
        running: 64,
        ended: 16,
        kernels: 64,
        errors: 64,
        allocations: 0,
    };

    /// The record at the end.
    pub const FINAL: Rows = Rows {
        running: 256,
        ended: 256,
        kernels: 1024,
        errors: 256,
        allocations: 256,
    };
}

/// Groups of allocations of a process.
pub(super) const GROUPS: usize = 16;
/// Kernels of a process.
pub(super) const KERNELS_OF_A_PROCESS: usize = 8;
/// Arguments of a process, and the characters of each.
pub(super) const ARGUMENTS: (usize, usize) = (16, 120);
