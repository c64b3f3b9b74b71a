//! The kernels of a run: compiled from their sources, and asked for their occupancy.

pub(super) mod compilers;
pub(super) mod kernels;
pub(super) mod occupancy;
