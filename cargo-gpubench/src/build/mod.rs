//! Building what is benchmarked: the crate as a cdylib through cargo, and its kernels through a device compiler.

pub mod kernels;
