//! The CPU device: memfds for memory, threads for streams, and an executor that runs CUDA C++
//! blocks as native code.
//!
//! It exercises the whole window protocol where there is no GPU. Its times say nothing about a GPU.

mod driver;
pub mod executor;
mod stream;

pub use driver::{CpuDriver, available_threads, facts, processor_name};

/// The role that runs a crate's own kernels on this device.
pub const KERNELS_RUN_IN: crate::KernelHost = crate::KernelHost::Author;
