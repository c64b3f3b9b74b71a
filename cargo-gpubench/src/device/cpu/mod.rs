//! The CPU device: memfds for memory, threads for streams, and an executor that runs CUDA C++ blocks as native code.

pub mod executor;
