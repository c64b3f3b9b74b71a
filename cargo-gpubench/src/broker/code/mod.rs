//! The kernels of a run: compilation, occupancy and resources.

pub(super) mod compilers;
pub(super) mod gpu_check;
pub(super) mod kernel_uses;
pub(super) mod kernels;
pub(super) mod machine_code;
pub(super) mod occupancy;
