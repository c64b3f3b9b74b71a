//! The kernels of a run: compilation and occupancy.

pub(super) mod compilers;
pub(super) mod kernels;
pub(super) mod occupancy;
