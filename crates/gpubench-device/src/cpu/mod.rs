//! The CPU device: memfds as memory, threads as streams, and an executor that runs CUDA C++ blocks
//! as native code.
//!
//! It runs the whole window protocol without a GPU. Its times say nothing about a GPU.

pub mod callgrind;
mod driver;
pub mod executor;
mod stream;
mod valgrind;

pub use driver::{CpuDriver, available_threads, facts, processor_name};

/// The process that runs the kernels of references and generators on this device.
pub const KERNELS_RUN_IN: crate::KernelHost = crate::KernelHost::Author;
