//! The CUDA kernels of `cargo gpubench` itself, and the headers that let a C++ compiler build CUDA C++ for the CPU device.

pub mod shim;
