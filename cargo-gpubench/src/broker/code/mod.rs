//! The code of a run: libraries that are built or unpacked, and kernels that are compiled from their sources.

pub(super) mod ahead;
pub(super) mod compilers;
pub(super) mod kernels;
pub(super) mod libraries;
pub(super) mod occupancy;
